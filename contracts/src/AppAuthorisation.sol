// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title AppAuthorisation
/// @notice Says which compose hashes an application may run with. Its address is the `app_id` of `GET /info`.
/// @dev Specification, "Endpoints / Attestation" rule 8.
contract AppAuthorisation {
    /// @notice The wallet that registers compose hashes.
    address public immutable owner;

    /// @notice Whether a compose hash is registered.
    mapping(bytes32 composeHash => bool registered) public allowedComposeHashes;

    /// @notice A compose hash was registered.
    event ComposeHashAdded(bytes32 indexed composeHash);
    /// @notice A compose hash was withdrawn.
    event ComposeHashRemoved(bytes32 indexed composeHash);

    /// @notice Only the owner registers and withdraws compose hashes.
    error NotOwner(address sender);

    /// @param owner_ The wallet that registers compose hashes.
    constructor(address owner_) {
        owner = owner_;
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    /// @notice Registers a compose hash.
    function addComposeHash(bytes32 composeHash) external onlyOwner {
        allowedComposeHashes[composeHash] = true;
        emit ComposeHashAdded(composeHash);
    }

    /// @notice Withdraws a compose hash.
    function removeComposeHash(bytes32 composeHash) external onlyOwner {
        allowedComposeHashes[composeHash] = false;
        emit ComposeHashRemoved(composeHash);
    }
}
