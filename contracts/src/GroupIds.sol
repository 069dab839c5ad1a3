// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Bits} from "./Bits.sol";

/// @title GroupIds
/// @notice A set of group ids of one account, 256 to a slot; 0 stands for the wildcard. It lists them in ascending order.
/// @dev Ids count up from 1, so a set never spans more words than the account's latest group id says: `last` below.
library GroupIds {
    struct Set {
        mapping(uint256 word => uint256 bits) words;
    }

    /// @notice Puts an id in, if it is not there already.
    function add(Set storage set, uint64 groupId) internal {
        set.words[groupId >> 8] |= 1 << (groupId & 0xff);
    }

    /// @notice Takes an id out, if it is there.
    function remove(Set storage set, uint64 groupId) internal {
        set.words[groupId >> 8] &= ~(1 << (groupId & 0xff));
    }

    /// @notice Takes every id out.
    function clear(Set storage set, uint64 last) internal {
        for (uint256 word = 0; word <= last >> 8; ++word) delete set.words[word];
    }

    /// @notice Whether an id is in the set.
    function contains(Set storage set, uint64 groupId) internal view returns (bool) {
        return (set.words[groupId >> 8] >> (groupId & 0xff)) & 1 == 1;
    }

    /// @notice All ids that are in another set as well, ascending; the wildcard needs not be. At most `most` of them.
    function allAmong(Set storage set, Set storage others, uint64 last, uint256 most)
        internal
        view
        returns (uint64[] memory groupIds)
    {
        uint256 size = 0;
        for (uint256 word = 0; word <= last >> 8; ++word) size += Bits.count(_common(set, others, word));
        if (size > most) size = most;
        groupIds = new uint64[](size);
        uint256 found = 0;
        for (uint256 word = 0; found < size; ++word) {
            for (uint256 bits = _common(set, others, word); bits != 0 && found < size; bits = Bits.withoutLowest(bits)) {
                groupIds[found++] = uint64((word << 8) | Bits.lowest(bits));
            }
        }
    }

    function _common(Set storage set, Set storage others, uint256 word) private view returns (uint256) {
        return set.words[word] & (word == 0 ? others.words[word] | 1 : others.words[word]);
    }
}
