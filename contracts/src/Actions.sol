// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Access} from "./Access.sol";
import {GroupIds} from "./GroupIds.sol";
import {OrderedSet} from "./OrderedSet.sol";

/// @title Actions
/// @notice The names and descriptions that an account has registered for action CIDs. Only the owner writes them.
/// @dev Specification, "Resources / Action" and "Endpoints / Wallets and actions".
abstract contract Actions is Access {
    using GroupIds for GroupIds.Set;
    using OrderedSet for OrderedSet.Set;

    /// @notice Registers an action. Owner only.
    /// @param cidHash Not zero, which is the wildcard.
    function addAction(uint256 adminHash, bytes32 cidHash, string calldata name, string calldata description)
        external
    {
        AccountRecord storage account = _ownedAccount(adminHash);
        if (cidHash == 0) revert ZeroHash();
        if (!account.actions.add(cidHash)) revert ActionExists(adminHash, cidHash);
        account.actionRecords[cidHash] = Action(cidHash, name, description);
        emit ActionAdded(adminHash, cidHash, name, description);
    }

    /// @notice Replaces an action's labels. Owner only.
    function updateActionMetadata(uint256 adminHash, bytes32 cidHash, string calldata name, string calldata description)
        external
    {
        AccountRecord storage account = _ownedAccount(adminHash);
        if (!account.actions.contains(cidHash)) revert ActionUnknown(adminHash, cidHash);
        account.actionRecords[cidHash] = Action(cidHash, name, description);
        emit ActionMetadataUpdated(adminHash, cidHash, name, description);
    }

    /// @notice Deletes an action with its labels and takes it out of every group of the account. Owner only.
    function deleteAction(uint256 adminHash, bytes32 cidHash) external {
        AccountRecord storage account = _ownedAccount(adminHash);
        if (!account.actions.remove(cidHash)) revert ActionUnknown(adminHash, cidHash);
        delete account.actionRecords[cidHash];
        GroupIds.Set storage listing = account.groupsListing[cidHash];
        uint64[] memory groupIds = listing.all(account.lastGroupId);
        for (uint256 i = 0; i < groupIds.length; ++i) account.groupRecords[groupIds[i]].cidHashes.remove(cidHash);
        listing.clear(account.lastGroupId);
        emit ActionDeleted(adminHash, cidHash);
    }

    /// @notice A page of the actions that the account has registered, oldest first.
    function listActions(uint256 accountHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        validPage(pageSize)
        returns (Action[] memory)
    {
        AccountRecord storage account = _knownAccount(accountHash);
        return _actions(account, account.actions.page(pageNumber, pageSize));
    }

    /// @notice A page of the actions that a group lists, in the order of adding, registered or not; the wildcard is an
    /// all-zero entry.
    function listActionsInGroup(uint256 accountHash, uint64 groupId, uint256 pageNumber, uint256 pageSize)
        external
        view
        validPage(pageSize)
        returns (Action[] memory)
    {
        AccountRecord storage account = _knownAccount(accountHash);
        return _actions(account, _group(account, accountHash, groupId).cidHashes.page(pageNumber, pageSize));
    }

    function _actions(AccountRecord storage account, bytes32[] memory cidHashes)
        private
        view
        returns (Action[] memory actions)
    {
        actions = new Action[](cidHashes.length);
        for (uint256 i = 0; i < cidHashes.length; ++i) {
            actions[i] = account.actionRecords[cidHashes[i]];
            actions[i].cidHash = cidHashes[i];
        }
    }
}
