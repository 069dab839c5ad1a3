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

    /// @notice All ids, ascending.
    function all(Set storage set, uint64 last) internal view returns (uint64[] memory groupIds) {
        uint256 size = 0;
        for (uint256 word = 0; word <= last >> 8; ++word) size += Bits.count(set.words[word]);
        groupIds = new uint64[](size);
        uint256 found = 0;
        for (uint256 word = 0; found < size; ++word) {
            for (uint256 bits = set.words[word]; bits != 0; bits = Bits.withoutLowest(bits)) {
                groupIds[found++] = uint64((word << 8) | Bits.lowest(bits));
            }
        }
    }
}
