// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Bits
/// @notice Counting and finding the ones in a word.
library Bits {
    /// @notice How many bits are one.
    /// @dev Sums the bits of ever wider fields. The last step adds bytes, where 256 would not fit: hence the first line.
    function count(uint256 word) internal pure returns (uint256) {
        if (word == type(uint256).max) return 256;
        unchecked {
            word -= (word >> 1) & (type(uint256).max / 3);
            word = (word & (type(uint256).max / 5)) + ((word >> 2) & (type(uint256).max / 5));
            word = (word + (word >> 4)) & (type(uint256).max / 17);
            return (word * (type(uint256).max / 255)) >> 248;
        }
    }

    /// @notice The place of the lowest one, from 0; 256 in a word of zeros.
    function lowest(uint256 word) internal pure returns (uint256) {
        unchecked {
            return count(~word & (word - 1));
        }
    }

    /// @notice The word without its lowest one.
    function withoutLowest(uint256 word) internal pure returns (uint256) {
        unchecked {
            return word & (word - 1);
        }
    }
}
