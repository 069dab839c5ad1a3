// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Access} from "./Access.sol";
import {OrderedSet} from "./OrderedSet.sol";

/// @title Wallets
/// @notice The wallets (PKPs) registered to accounts. A wallet, once registered, stays.
/// @dev Specification, "Resources / Wallet (PKP)" and "States and transitions / Minted wallet or usage key".
abstract contract Wallets is Access {
    using OrderedSet for OrderedSet.Set;

    mapping(uint256 derivationPath => uint256 accountHash) private _derivationOwner;

    /// @notice Registers a minted wallet. Owner only.
    function registerWalletDerivation(
        uint256 adminHash,
        address walletAddress,
        uint256 derivationPath,
        string calldata name,
        string calldata description
    ) external {
        _register(_ownedAccount(adminHash), adminHash, walletAddress, derivationPath, name, description);
    }

    /// @notice Registers a wallet that the service has just derived. Owner, or a usage key with `canCreatePkps`.
    function createWallet(
        uint256 keyHash,
        address walletAddress,
        uint256 derivationPath,
        string calldata name,
        string calldata description
    ) external {
        (AccountRecord storage account, uint256 accountHash) = _actingAccount(keyHash);
        _requireAccountScope(accountHash, keyHash, account.keyRecords[keyHash].values.canCreatePkps, "pkp:create");
        _register(account, accountHash, walletAddress, derivationPath, name, description);
    }

    /// @notice A page of the account's wallets, oldest first.
    function listWallets(uint256 accountHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        validPage(pageSize)
        returns (Wallet[] memory)
    {
        AccountRecord storage account = _knownAccount(accountHash);
        return _wallets(account, account.wallets.page(pageNumber, pageSize));
    }

    /// @notice A page of the wallets that a group lists, in the order of adding; the wildcard is an all-zero entry.
    function listWalletsInGroup(uint256 accountHash, uint64 groupId, uint256 pageNumber, uint256 pageSize)
        external
        view
        validPage(pageSize)
        returns (Wallet[] memory)
    {
        AccountRecord storage account = _knownAccount(accountHash);
        _group(account, accountHash, groupId);
        return _wallets(account, _lists(account, groupId).pkpIds.page(pageNumber, pageSize));
    }

    /// @notice One wallet of the account; refuses one that is not the account's.
    function getWallet(uint256 accountHash, bytes32 pkpId) external view returns (Wallet memory) {
        AccountRecord storage account = _knownAccount(accountHash);
        if (!account.wallets.contains(pkpId)) revert WalletUnknown(accountHash, pkpId);
        return account.walletRecords[pkpId];
    }

    /// @notice The account that registered a derivation path first, 0 if none did.
    function derivationOwner(uint256 derivationPath) external view returns (uint256 accountHash) {
        return _derivationOwner[derivationPath];
    }

    function _register(
        AccountRecord storage account,
        uint256 accountHash,
        address walletAddress,
        uint256 derivationPath,
        string calldata name,
        string calldata description
    ) private {
        if (walletAddress == address(0)) revert ZeroAddress();
        bytes32 pkpId = keccak256(abi.encodePacked(walletAddress));
        if (!account.wallets.add(pkpId)) revert WalletExists(accountHash, pkpId);
        account.walletRecords[pkpId] = Wallet(pkpId, walletAddress, derivationPath, name, description);
        if (_derivationOwner[derivationPath] == 0) _derivationOwner[derivationPath] = accountHash;
        emit WalletRegistered(accountHash, pkpId, walletAddress, derivationPath, name, description);
    }

    function _wallets(AccountRecord storage account, bytes32[] memory pkpIds)
        private
        view
        returns (Wallet[] memory wallets)
    {
        wallets = new Wallet[](pkpIds.length);
        for (uint256 i = 0; i < pkpIds.length; ++i) wallets[i] = account.walletRecords[pkpIds[i]];
    }
}
