// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title ContractWallet
/// @notice A minimal contract account (ERC-1271) with one owner, for checks that need a signer that is a contract.
/// @dev Specification, "Endpoints / Wallet-signed endpoints" 2: the conversion flow does not accept such signatures.
contract ContractWallet {
    /// @dev The answer that ERC-1271 defines for a valid signature.
    bytes4 private constant _VALID = 0x1626ba7e;
    bytes4 private constant _INVALID = 0xffffffff;

    /// @notice The wallet whose signatures count and who may send calls through this one.
    address public immutable owner;

    /// @notice Only the owner sends calls.
    error NotOwner(address sender);

    /// @param owner_ The wallet whose signatures count.
    constructor(address owner_) {
        owner = owner_;
    }

    /// @notice ERC-1271: whether the owner signed a digest.
    /// @param signature 65 bytes: r, s, v (27 or 28).
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return _INVALID;
        address signer =
            ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer != address(0) && signer == owner ? _VALID : _INVALID;
    }

    /// @notice Sends a call as this wallet; a revert of the target comes back unchanged.
    function execute(address target, bytes calldata data) external returns (bytes memory) {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        (bool succeeded, bytes memory result) = target.call(data);
        if (succeeded) return result;
        assembly {
            revert(add(result, 32), mload(result))
        }
    }
}
