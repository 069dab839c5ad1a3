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

    /// @dev Lists that a deletion clears of the action. What is left in others counts no more, but lists of this account
    /// are read more slowly from then on.
    uint256 private constant _LISTS_CLEARED = 256;

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
        uint64[] memory groupIds =
            _listing(account, cidHash).allAmong(account.liveGroups, account.lastGroupId, _LISTS_CLEARED);
        for (uint256 i = 0; i < groupIds.length; ++i) _lists(account, groupIds[i]).cidHashes.remove(cidHash);
        if (groupIds.length == _LISTS_CLEARED) account.hasLeftovers = true;
        if (groupIds.length != 0) ++account.deletionsOf[cidHash];
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
        _group(account, accountHash, groupId);
        OrderedSet.Set storage cidHashes = _lists(account, groupId).cidHashes;
        if (!account.hasLeftovers) return _actions(account, cidHashes.page(pageNumber, pageSize));
        return _actions(account, _pageWithoutLeftovers(account, groupId, cidHashes.all(), pageNumber, pageSize));
    }

    function _pageWithoutLeftovers(
        AccountRecord storage account,
        uint64 groupId,
        bytes32[] memory items,
        uint256 pageNumber,
        uint256 pageSize
    ) private view returns (bytes32[] memory found) {
        uint256 size = 0;
        for (uint256 i = 0; i < items.length; ++i) {
            if (_listing(account, items[i]).contains(groupId)) items[size++] = items[i];
        }
        if (pageNumber >= size || pageNumber * pageSize >= size) return found;
        uint256 offset = pageNumber * pageSize;
        found = new bytes32[](size - offset < pageSize ? size - offset : pageSize);
        for (uint256 i = 0; i < found.length; ++i) found[i] = items[offset + i];
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
