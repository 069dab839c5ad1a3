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
        account.liveGroups.add(groupId);
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
        GroupRecord storage group = _group(account, adminHash, groupId);
        group.labels = Group(groupId, name, description);
        ++group.generation;
        _fill(account, adminHash, groupId, pkpIds, cidHashes);
        emit GroupUpdated(adminHash, groupId, name, description, pkpIds, cidHashes);
    }

    /// @notice Removes a group, and with it its id from every permission array. Owner, or a usage key with
    /// `canDeleteGroups`. Costs the same whatever the group lists and whichever keys name it.
    function removeGroup(uint256 keyHash, uint64 groupId) external {
        (AccountRecord storage account, uint256 accountHash) = _actingAccount(keyHash);
        _requireAccountScope(accountHash, keyHash, account.keyRecords[keyHash].values.canDeleteGroups, "group:delete");
        delete _group(account, accountHash, groupId).labels;
        account.groups.remove(_groupItem(groupId));
        account.liveGroups.remove(groupId);
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
        if (!_lists(account, groupId).pkpIds.remove(pkpId)) revert NotInGroup(groupId, pkpId);
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
        if (!_listsAction(account, groupId, cidHash)) revert NotInGroup(groupId, cidHash);
        _lists(account, groupId).cidHashes.remove(cidHash);
        _listing(account, cidHash).remove(groupId);
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

    function _listPkp(AccountRecord storage account, uint256 accountHash, uint64 groupId, bytes32 pkpId)
        private
        returns (bool added)
    {
        if (pkpId != 0 && !account.wallets.contains(pkpId)) revert WalletUnknown(accountHash, pkpId);
        return _lists(account, groupId).pkpIds.add(pkpId);
    }

    /// @dev Where a deletion has left the action in the list, it goes to the end as any that is added does.
    function _listAction(AccountRecord storage account, uint64 groupId, bytes32 cidHash) private returns (bool added) {
        if (_listsAction(account, groupId, cidHash)) return false;
        OrderedSet.Set storage cidHashes = _lists(account, groupId).cidHashes;
        cidHashes.remove(cidHash);
        _listing(account, cidHash).add(groupId);
        return cidHashes.add(cidHash);
    }
}
