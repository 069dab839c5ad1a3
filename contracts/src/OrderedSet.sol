// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Bits} from "./Bits.sol";

/// @title OrderedSet
/// @notice A set of bytes32 that lists its items in the order in which they were added, also after removals.
/// @dev Each item gets the next position; a bitmap says which positions are still taken. Adding and removing cost the
/// same at any size, and reading a page costs one slot per item plus one slot per 256 positions before it. An array
/// that closes its gaps would make removal grow with the set, and one that swaps in its last item would lose the
/// order. A set that has become empty leaves no slot behind that is not zero.
library OrderedSet {
    struct Set {
        uint128 lastPosition;
        uint128 size;
        mapping(uint256 position => bytes32 item) itemAt;
        mapping(bytes32 item => uint256 position) positionOf;
        mapping(uint256 word => uint256 bits) taken;
    }

    /// @notice Puts an item at the end.
    /// @return added False if it was there already; its place is then unchanged.
    function add(Set storage set, bytes32 item) internal returns (bool added) {
        if (contains(set, item)) return false;
        uint256 position = ++set.lastPosition;
        ++set.size;
        set.itemAt[position] = item;
        set.positionOf[item] = position;
        set.taken[position >> 8] |= _bit(position);
        return true;
    }

    /// @notice Takes an item out; the others keep their order.
    /// @return removed False if it was not there.
    function remove(Set storage set, bytes32 item) internal returns (bool removed) {
        uint256 position = set.positionOf[item];
        if (position == 0) return false;
        delete set.itemAt[position];
        delete set.positionOf[item];
        set.taken[position >> 8] &= ~_bit(position);
        if (--set.size == 0) set.lastPosition = 0;
        return true;
    }

    /// @notice Takes every item out.
    function clear(Set storage set) internal {
        bytes32[] memory items = all(set);
        for (uint256 i = 0; i < items.length; ++i) remove(set, items[i]);
    }

    /// @notice Whether an item is in the set.
    function contains(Set storage set, bytes32 item) internal view returns (bool) {
        return set.positionOf[item] != 0;
    }

    /// @notice All items, oldest first.
    function all(Set storage set) internal view returns (bytes32[] memory) {
        return _slice(set, 0, set.size);
    }

    /// @notice One page of items, oldest first; empty past the end.
    /// @param pageNumber Counted from 0.
    /// @param pageSize At least 1; the caller checks it.
    function page(Set storage set, uint256 pageNumber, uint256 pageSize) internal view returns (bytes32[] memory) {
        uint256 size = set.size;
        // A page holds at least one item, so a page number past the size is past the end; the product cannot overflow.
        if (pageNumber >= size || pageNumber * pageSize >= size) return new bytes32[](0);
        uint256 offset = pageNumber * pageSize;
        uint256 left = size - offset;
        return _slice(set, offset, left < pageSize ? left : pageSize);
    }

    /// @dev `count` items after the first `offset`; the caller has checked that there are as many.
    function _slice(Set storage set, uint256 offset, uint256 count) private view returns (bytes32[] memory items) {
        items = new bytes32[](count);
        if (count == 0) return items;
        uint256 word = 0;
        uint256 bits = set.taken[0];
        for (uint256 inWord = Bits.count(bits); offset >= inWord; inWord = Bits.count(bits)) {
            offset -= inWord;
            bits = set.taken[++word];
        }
        for (; offset != 0; --offset) bits = Bits.withoutLowest(bits);
        uint256 found = 0;
        while (true) {
            for (; bits != 0; bits = Bits.withoutLowest(bits)) {
                items[found] = set.itemAt[(word << 8) | Bits.lowest(bits)];
                if (++found == count) return items;
            }
            bits = set.taken[++word];
        }
    }

    function _bit(uint256 position) private pure returns (uint256) {
        return 1 << (position & 0xff);
    }
}
