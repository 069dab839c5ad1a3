// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Access} from "./Access.sol";
import {GroupIds} from "./GroupIds.sol";
import {OrderedSet} from "./OrderedSet.sol";

/// @title UsageKeys
/// @notice Usage API keys and their permissions. Only the owner writes them.
/// @dev Specification, "Resources / Usage API key" and "States and transitions / Usage key".
abstract contract UsageKeys is Access {
    using GroupIds for GroupIds.Set;
    using OrderedSet for OrderedSet.Set;

    /// @notice Attaches a usage key, or replaces all values of one that this account has. Owner only.
    /// @param usageApiKeyHash Not zero, and in use neither as an account nor as a key of another account.
    /// @param expiration Unix seconds, 0 for never.
    /// @param balance Stored and listed, not enforced.
    function setUsageApiKey(
        uint256 adminHash,
        uint256 usageApiKeyHash,
        uint256 expiration,
        uint256 balance,
        string memory name,
        string memory description,
        bool canCreateGroups,
        bool canDeleteGroups,
        bool canCreatePkps,
        uint64[] memory manageIpfsIdsInGroups,
        uint64[] memory addPkpToGroups,
        uint64[] memory removePkpFromGroups,
        uint64[] memory executeInGroups
    ) external {
        UsageKey memory key = UsageKey({
            keyHash: usageApiKeyHash,
            expiration: expiration,
            balance: balance,
            name: name,
            description: description,
            canCreateGroups: canCreateGroups,
            canDeleteGroups: canDeleteGroups,
            canCreatePkps: canCreatePkps,
            manageIpfsIdsInGroups: manageIpfsIdsInGroups,
            addPkpToGroups: addPkpToGroups,
            removePkpFromGroups: removePkpFromGroups,
            executeInGroups: executeInGroups
        });
        _set(adminHash, key);
    }

    /// @notice Replaces a usage key's labels and permissions; expiration and balance stay. Owner only.
    function updateUsageApiKey(
        uint256 adminHash,
        uint256 usageApiKeyHash,
        string memory name,
        string memory description,
        bool canCreateGroups,
        bool canDeleteGroups,
        bool canCreatePkps,
        uint64[] memory manageIpfsIdsInGroups,
        uint64[] memory addPkpToGroups,
        uint64[] memory removePkpFromGroups,
        uint64[] memory executeInGroups
    ) external {
        UsageKey memory key = UsageKey({
            keyHash: usageApiKeyHash,
            expiration: 0,
            balance: 0,
            name: name,
            description: description,
            canCreateGroups: canCreateGroups,
            canDeleteGroups: canDeleteGroups,
            canCreatePkps: canCreatePkps,
            manageIpfsIdsInGroups: manageIpfsIdsInGroups,
            addPkpToGroups: addPkpToGroups,
            removePkpFromGroups: removePkpFromGroups,
            executeInGroups: executeInGroups
        });
        _update(adminHash, key);
    }

    /// @notice Replaces a usage key's labels. Owner only.
    function updateUsageApiKeyMetadata(
        uint256 adminHash,
        uint256 usageApiKeyHash,
        string calldata name,
        string calldata description
    ) external {
        KeyRecord storage record = _usageKey(_ownedAccount(adminHash), adminHash, usageApiKeyHash);
        record.values.name = name;
        record.values.description = description;
        emit UsageApiKeyMetadataUpdated(adminHash, usageApiKeyHash, name, description);
    }

    /// @notice Removes a usage key. Its hash may be attached again later. Owner only.
    function removeUsageApiKey(uint256 adminHash, uint256 usageApiKeyHash) external {
        AccountRecord storage account = _ownedAccount(adminHash);
        KeyRecord storage record = _usageKey(account, adminHash, usageApiKeyHash);
        _forgetGroups(account, record);
        delete record.values;
        delete _accountOfUsageKey[usageApiKeyHash];
        account.usageKeys.remove(bytes32(usageApiKeyHash));
        emit UsageApiKeyRemoved(adminHash, usageApiKeyHash);
    }

    /// @notice One usage key of the account; refuses one that is not the account's.
    function getUsageApiKey(uint256 accountHash, uint256 keyHash) external view returns (UsageKey memory) {
        AccountRecord storage account = _knownAccount(accountHash);
        _usageKey(account, accountHash, keyHash);
        return _read(account, keyHash);
    }

    /// @notice A page of the account's usage keys, oldest first.
    function listUsageApiKeys(uint256 accountHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        validPage(pageSize)
        returns (UsageKey[] memory keys)
    {
        AccountRecord storage account = _knownAccount(accountHash);
        bytes32[] memory items = account.usageKeys.page(pageNumber, pageSize);
        keys = new UsageKey[](items.length);
        for (uint256 i = 0; i < items.length; ++i) keys[i] = _read(account, uint256(items[i]));
    }

    function _set(uint256 adminHash, UsageKey memory key) private {
        AccountRecord storage account = _ownedAccount(adminHash);
        if (key.keyHash == 0) revert ZeroHash();
        if (!account.usageKeys.contains(bytes32(key.keyHash))) {
            if (_accountHashOf(key.keyHash) != 0) revert KeyHashInUse(key.keyHash);
            account.usageKeys.add(bytes32(key.keyHash));
            _accountOfUsageKey[key.keyHash] = adminHash;
        }
        _store(account, adminHash, key);
        emit UsageApiKeySet(adminHash, key.keyHash, key);
    }

    /// @dev Takes expiration and balance from the key as it is; `key` brings everything else.
    function _update(uint256 adminHash, UsageKey memory key) private {
        AccountRecord storage account = _ownedAccount(adminHash);
        KeyRecord storage record = _usageKey(account, adminHash, key.keyHash);
        key.expiration = record.values.expiration;
        key.balance = record.values.balance;
        _store(account, adminHash, key);
        emit UsageApiKeyUpdated(adminHash, key.keyHash, key);
    }

    function _usageKey(AccountRecord storage account, uint256 accountHash, uint256 keyHash)
        private
        view
        returns (KeyRecord storage)
    {
        if (!account.usageKeys.contains(bytes32(keyHash))) revert UsageKeyUnknown(accountHash, keyHash);
        return account.keyRecords[keyHash];
    }

    function _store(AccountRecord storage account, uint256 accountHash, UsageKey memory key) private {
        KeyRecord storage record = account.keyRecords[key.keyHash];
        _forgetGroups(account, record);
        record.values = KeyValues({
            expiration: key.expiration,
            balance: key.balance,
            name: key.name,
            description: key.description,
            canCreateGroups: key.canCreateGroups,
            canDeleteGroups: key.canDeleteGroups,
            canCreatePkps: key.canCreatePkps
        });
        _nameGroups(account, accountHash, key.keyHash, GroupScope.ManageActions, key.manageIpfsIdsInGroups);
        _nameGroups(account, accountHash, key.keyHash, GroupScope.AddPkp, key.addPkpToGroups);
        _nameGroups(account, accountHash, key.keyHash, GroupScope.RemovePkp, key.removePkpFromGroups);
        _nameGroups(account, accountHash, key.keyHash, GroupScope.Execute, key.executeInGroups);
    }

    function _nameGroups(
        AccountRecord storage account,
        uint256 accountHash,
        uint256 keyHash,
        GroupScope scope,
        uint64[] memory groupIds
    ) private {
        GroupIds.Set storage named = account.keyRecords[keyHash].groupsIn[scope];
        for (uint256 i = 0; i < groupIds.length; ++i) {
            if (groupIds[i] != 0) _group(account, accountHash, groupIds[i]);
            named.add(groupIds[i]);
        }
    }

    /// @dev Empties the four arrays.
    function _forgetGroups(AccountRecord storage account, KeyRecord storage record) private {
        uint64 last = account.lastGroupId;
        for (uint256 scope = 0; scope <= uint256(type(GroupScope).max); ++scope) {
            record.groupsIn[GroupScope(scope)].clear(last);
        }
    }

    /// @dev The groups that a key names in a scope and that still exist.
    function _named(AccountRecord storage account, uint256 keyHash, GroupScope scope)
        private
        view
        returns (uint64[] memory)
    {
        GroupIds.Set storage named = account.keyRecords[keyHash].groupsIn[scope];
        return named.allAmong(account.liveGroups, account.lastGroupId, type(uint256).max);
    }

    function _read(AccountRecord storage account, uint256 keyHash) private view returns (UsageKey memory) {
        KeyRecord storage record = account.keyRecords[keyHash];
        return UsageKey({
            keyHash: keyHash,
            expiration: record.values.expiration,
            balance: record.values.balance,
            name: record.values.name,
            description: record.values.description,
            canCreateGroups: record.values.canCreateGroups,
            canDeleteGroups: record.values.canDeleteGroups,
            canCreatePkps: record.values.canCreatePkps,
            manageIpfsIdsInGroups: _named(account, keyHash, GroupScope.ManageActions),
            addPkpToGroups: _named(account, keyHash, GroupScope.AddPkp),
            removePkpFromGroups: _named(account, keyHash, GroupScope.RemovePkp),
            executeInGroups: _named(account, keyHash, GroupScope.Execute)
        });
    }
}
