// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Access} from "./Access.sol";
import {GroupIds} from "./GroupIds.sol";
import {OrderedSet} from "./OrderedSet.sol";

/// @title Groups
/// @notice Groups and the two lists in each: wallets and actions.
/// @dev Specification, "Resources / Group" and "States and transitions / Group".
abstract contract Groups is Access {
    using GroupIds for GroupIds.Set;
    using OrderedSet for OrderedSet.Set;

    /// @notice Creates a group. Owner, or a usage key with `canCreateGroups`; entries given here need of a usage key
    /// the wildcard in `addPkpToGroups` and `manageIpfsIdsInGroups`, since no array can name a group that is not yet.
    /// @return groupId Counted from 1 in each account, never used again.
    function addGroup(
        uint256 keyHash,
        string memory name,
        string memory description,
        bytes32[] memory pkpIds,
        bytes32[] memory cidHashes
    ) external returns (uint64 groupId) {
        (AccountRecord storage account, uint256 accountHash) = _actingAccount(keyHash);
        _requireAccountScope(accountHash, keyHash, account.keyRecords[keyHash].values.canCreateGroups, "group:create");
        if (pkpIds.length != 0) _requireGroupScope(accountHash, keyHash, GroupScope.AddPkp, 0);
        if (cidHashes.length != 0) _requireGroupScope(accountHash, keyHash, GroupScope.ManageActions, 0);
        groupId = ++account.lastGroupId;
        account.groups.add(_groupItem(groupId));
        account.groupRecords[groupId].labels = Group(groupId, name, description);
        _fill(account, accountHash, groupId, pkpIds, cidHashes);
        emit GroupAdded(accountHash, groupId, name, description, pkpIds, cidHashes);
    }

    /// @notice Replaces a group's labels and both lists. Owner only.
    function updateGroup(
        uint256 adminHash,
        uint64 groupId,
        string memory name,
        string memory description,
        bytes32[] memory pkpIds,
        bytes32[] memory cidHashes
    ) external {
        AccountRecord storage account = _ownedAccount(adminHash);
        _group(account, adminHash, groupId).labels = Group(groupId, name, description);
        _empty(account, groupId);
        _fill(account, adminHash, groupId, pkpIds, cidHashes);
        emit GroupUpdated(adminHash, groupId, name, description, pkpIds, cidHashes);
    }

    /// @notice Removes a group and takes its id out of every permission array. Owner, or a usage key with
    /// `canDeleteGroups`.
    function removeGroup(uint256 keyHash, uint64 groupId) external {
        (AccountRecord storage account, uint256 accountHash) = _actingAccount(keyHash);
        _requireAccountScope(accountHash, keyHash, account.keyRecords[keyHash].values.canDeleteGroups, "group:delete");
        GroupRecord storage group = _group(account, accountHash, groupId);
        _empty(account, groupId);
        _forgetByKeys(account, group, groupId);
        delete group.labels;
        account.groups.remove(_groupItem(groupId));
        emit GroupRemoved(accountHash, groupId);
    }

    /// @notice Lists an action in a group; bytes32(0) sets the wildcard. Owner, or `manageIpfsIdsInGroups`.
    function addActionToGroup(uint256 keyHash, uint64 groupId, bytes32 cidHash) external {
        (AccountRecord storage account, uint256 accountHash) = _actingInGroup(keyHash, groupId, GroupScope.ManageActions);
        _addAction(account, accountHash, groupId, cidHash);
    }

    /// @notice Takes an action out of a group; bytes32(0) clears the wildcard. Owner, or `manageIpfsIdsInGroups`.
    function removeActionFromGroup(uint256 keyHash, uint64 groupId, bytes32 cidHash) external {
        (AccountRecord storage account, uint256 accountHash) = _actingInGroup(keyHash, groupId, GroupScope.ManageActions);
        _removeAction(account, accountHash, groupId, cidHash);
    }

    /// @notice Lists some actions in a group and takes others out, all or nothing. Owner, or `manageIpfsIdsInGroups`.
    /// @dev Specification, "Design-level flow paths". Actions are taken out first.
    function changeActionsOfGroup(uint256 keyHash, uint64 groupId, bytes32[] memory added, bytes32[] memory removed)
        external
    {
        (AccountRecord storage account, uint256 accountHash) = _actingInGroup(keyHash, groupId, GroupScope.ManageActions);
        for (uint256 i = 0; i < removed.length; ++i) _removeAction(account, accountHash, groupId, removed[i]);
        for (uint256 i = 0; i < added.length; ++i) _addAction(account, accountHash, groupId, added[i]);
    }

    /// @notice Lists a wallet of the account in a group; bytes32(0) sets the wildcard. Owner, or `addPkpToGroups`.
    function addPkpToGroup(uint256 keyHash, uint64 groupId, bytes32 pkpId) external {
        (AccountRecord storage account, uint256 accountHash) = _actingInGroup(keyHash, groupId, GroupScope.AddPkp);
        _addPkp(account, accountHash, groupId, pkpId);
    }

    /// @notice Lists some wallets of the account in a group, all or nothing. Owner, or `addPkpToGroups`.
    /// @dev Specification, "Design-level flow paths".
    function addPkpsToGroup(uint256 keyHash, uint64 groupId, bytes32[] memory pkpIds) external {
        (AccountRecord storage account, uint256 accountHash) = _actingInGroup(keyHash, groupId, GroupScope.AddPkp);
        for (uint256 i = 0; i < pkpIds.length; ++i) _addPkp(account, accountHash, groupId, pkpIds[i]);
    }

    /// @notice Takes a wallet out of a group; bytes32(0) clears the wildcard. Owner, or `removePkpFromGroups`.
    function removePkpFromGroup(uint256 keyHash, uint64 groupId, bytes32 pkpId) external {
        (AccountRecord storage account, uint256 accountHash) = _actingInGroup(keyHash, groupId, GroupScope.RemovePkp);
        if (!account.groupRecords[groupId].pkpIds.remove(pkpId)) revert NotInGroup(groupId, pkpId);
        emit PkpRemovedFromGroup(accountHash, groupId, pkpId);
    }

    /// @notice A page of the account's groups, oldest first.
    function listGroups(uint256 accountHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        validPage(pageSize)
        returns (Group[] memory groups)
    {
        AccountRecord storage account = _knownAccount(accountHash);
        bytes32[] memory items = account.groups.page(pageNumber, pageSize);
        groups = new Group[](items.length);
        for (uint256 i = 0; i < items.length; ++i) groups[i] = account.groupRecords[uint64(uint256(items[i]))].labels;
    }

    /// @dev The account whose group is written to; refuses an unknown group before a missing scope.
    function _actingInGroup(uint256 keyHash, uint64 groupId, GroupScope scope)
        private
        view
        returns (AccountRecord storage account, uint256 accountHash)
    {
        (account, accountHash) = _actingAccount(keyHash);
        _group(account, accountHash, groupId);
        _requireGroupScope(accountHash, keyHash, scope, groupId);
    }

    function _addAction(AccountRecord storage account, uint256 accountHash, uint64 groupId, bytes32 cidHash) private {
        if (!_listAction(account, groupId, cidHash)) revert AlreadyInGroup(groupId, cidHash);
        emit ActionAddedToGroup(accountHash, groupId, cidHash);
    }

    function _removeAction(AccountRecord storage account, uint256 accountHash, uint64 groupId, bytes32 cidHash) private {
        if (!account.groupRecords[groupId].cidHashes.remove(cidHash)) revert NotInGroup(groupId, cidHash);
        account.groupsListing[cidHash].remove(groupId);
        emit ActionRemovedFromGroup(accountHash, groupId, cidHash);
    }

    function _addPkp(AccountRecord storage account, uint256 accountHash, uint64 groupId, bytes32 pkpId) private {
        if (!_listPkp(account, accountHash, groupId, pkpId)) revert AlreadyInGroup(groupId, pkpId);
        emit PkpAddedToGroup(accountHash, groupId, pkpId);
    }

    function _fill(
        AccountRecord storage account,
        uint256 accountHash,
        uint64 groupId,
        bytes32[] memory pkpIds,
        bytes32[] memory cidHashes
    ) private {
        for (uint256 i = 0; i < pkpIds.length; ++i) _listPkp(account, accountHash, groupId, pkpIds[i]);
        for (uint256 i = 0; i < cidHashes.length; ++i) _listAction(account, groupId, cidHashes[i]);
    }

    function _empty(AccountRecord storage account, uint64 groupId) private {
        GroupRecord storage group = account.groupRecords[groupId];
        group.pkpIds.clear();
        bytes32[] memory cidHashes = group.cidHashes.all();
        for (uint256 i = 0; i < cidHashes.length; ++i) {
            group.cidHashes.remove(cidHashes[i]);
            account.groupsListing[cidHashes[i]].remove(groupId);
        }
    }

    function _listPkp(AccountRecord storage account, uint256 accountHash, uint64 groupId, bytes32 pkpId)
        private
        returns (bool added)
    {
        if (pkpId != 0 && !account.wallets.contains(pkpId)) revert WalletUnknown(accountHash, pkpId);
        return account.groupRecords[groupId].pkpIds.add(pkpId);
    }

    function _listAction(AccountRecord storage account, uint64 groupId, bytes32 cidHash) private returns (bool added) {
        account.groupsListing[cidHash].add(groupId);
        return account.groupRecords[groupId].cidHashes.add(cidHash);
    }

    function _forgetByKeys(AccountRecord storage account, GroupRecord storage group, uint64 groupId) private {
        bytes32[] memory keyHashes = group.namedByKeys.all();
        for (uint256 i = 0; i < keyHashes.length; ++i) {
            KeyRecord storage key = account.keyRecords[uint256(keyHashes[i])];
            for (uint256 scope = 0; scope <= uint256(type(GroupScope).max); ++scope) {
                key.groupsIn[GroupScope(scope)].remove(groupId);
            }
        }
        group.namedByKeys.clear();
    }
}
