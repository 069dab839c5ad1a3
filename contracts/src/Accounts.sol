// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Access} from "./Access.sol";

/// @title Accounts
/// @notice How accounts come into being and change their mode.
/// @dev Specification, "Resources / Account" and "States and transitions / Account mode".
abstract contract Accounts is Access {
    /// @notice Creates a managed account. Payers only.
    /// @param apiKeyHash The account hash; not zero, not an account's.
    /// @param adminWalletAddress The wallet derived from the account's secret; not zero.
    function newAccount(
        uint256 apiKeyHash,
        address adminWalletAddress,
        string calldata name,
        string calldata description
    ) external {
        if (!_isPayer(msg.sender)) revert SenderNotPermitted(apiKeyHash, msg.sender);
        if (apiKeyHash == 0) revert ZeroHash();
        if (adminWalletAddress == address(0)) revert ZeroAddress();
        _create(apiKeyHash, adminWalletAddress, true, name, description);
    }

    /// @notice Creates an unmanaged account that belongs to the sender. Its hash is keccak256 of the packed address.
    function newChainSecuredAccount(string calldata name, string calldata description) external {
        uint256 accountHash = uint256(keccak256(abi.encodePacked(msg.sender)));
        _create(accountHash, msg.sender, false, name, description);
    }

    /// @notice Makes a managed account unmanaged. A payer or the account's admin wallet; once, and never back.
    /// @param newAdminWalletAddress The wallet that alone may write from now on; not zero.
    function convertToChainSecuredAccount(uint256 apiKeyHash, address newAdminWalletAddress) external {
        uint256 accountHash = _accountHashOf(apiKeyHash);
        if (accountHash == 0) revert AccountUnknown(apiKeyHash);
        AccountRecord storage account = _accounts[accountHash];
        address former = account.adminWalletAddress;
        if (!_isPayer(msg.sender) && msg.sender != former) revert SenderNotPermitted(accountHash, msg.sender);
        if (accountHash != apiKeyHash) revert OwnerOnly(apiKeyHash);
        if (!account.managed) revert AlreadyChainSecured(accountHash);
        if (newAdminWalletAddress == address(0)) revert ZeroAddress();
        account.managed = false;
        account.adminWalletAddress = newAdminWalletAddress;
        emit AccountConverted(accountHash, former, newAdminWalletAddress);
    }

    /// @notice Whether an account has this hash.
    function accountExists(uint256 accountHash) external view returns (bool) {
        return _accounts[accountHash].exists;
    }

    /// @notice An account's own values; refuses an unknown account.
    function getAccount(uint256 accountHash)
        external
        view
        returns (bool managed, address adminWalletAddress, string memory name, string memory description)
    {
        AccountRecord storage account = _knownAccount(accountHash);
        return (account.managed, account.adminWalletAddress, account.name, account.description);
    }

    /// @notice What a key is; never reverts.
    /// @return accountHash The account it belongs to, 0 if unknown.
    /// @return isAccountKey Whether it is the account's own hash.
    /// @return managed Whether the account is managed.
    /// @return expiration A usage key's expiration in Unix seconds, 0 for never.
    function keyInfo(uint256 keyHash)
        external
        view
        returns (uint256 accountHash, bool isAccountKey, bool managed, uint256 expiration)
    {
        accountHash = _accountHashOf(keyHash);
        AccountRecord storage account = _accounts[accountHash];
        isAccountKey = accountHash != 0 && accountHash == keyHash;
        managed = account.managed;
        expiration = account.keyRecords[keyHash].values.expiration;
    }

    /// @dev Does not ask whether some account lists the hash among its usage keys: anybody can attach the hash of anybody
    /// else's wallet, which must not keep its owner out. From here on the hash is this account's alone; what the other
    /// account still lists acts for nobody and can only be removed.
    function _create(
        uint256 accountHash,
        address adminWalletAddress,
        bool managed,
        string calldata name,
        string calldata description
    ) private {
        AccountRecord storage account = _accounts[accountHash];
        if (account.exists) revert AccountExists(accountHash);
        account.exists = true;
        account.managed = managed;
        account.adminWalletAddress = adminWalletAddress;
        account.name = name;
        account.description = description;
        emit AccountCreated(accountHash, adminWalletAddress, managed, name, description);
    }
}
