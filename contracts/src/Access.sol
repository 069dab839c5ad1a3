// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {GroupIds} from "./GroupIds.sol";
import {OrderedSet} from "./OrderedSet.sol";
import {Payers} from "./Payers.sol";

/// @title Access
/// @notice The state of all accounts, and the two questions asked before every write: may this wallet send it, and may
/// this key do it.
/// @dev Specification, "Authentication" items 2, 3, 8 and 9, and "Resources / Scopes (access model)".
abstract contract Access is Payers {
    using GroupIds for GroupIds.Set;
    using OrderedSet for OrderedSet.Set;

    /// @dev The four scopes that are granted per group.
    enum GroupScope {
        ManageActions,
        AddPkp,
        RemovePkp,
        Execute
    }

    /// @dev What a usage key holds besides the groups it names.
    struct KeyValues {
        uint256 expiration;
        uint256 balance;
        string name;
        string description;
        bool canCreateGroups;
        bool canDeleteGroups;
        bool canCreatePkps;
    }

    struct KeyRecord {
        KeyValues values;
        mapping(GroupScope scope => GroupIds.Set) groupsIn;
    }

    struct GroupLists {
        OrderedSet.Set pkpIds;
        OrderedSet.Set cidHashes;
    }

    /// @dev Only the lists of the latest generation count, so that replacing both costs the same at any size.
    struct GroupRecord {
        Group labels;
        uint256 generation;
        mapping(uint256 generation => GroupLists) listsOf;
    }

    /// @dev No removal walks over what it removes, which could outgrow a block: what is left behind counts no more.
    /// Entries of keys and actions for a group that is no longer live count nothing; `lastGroupId` only grows, so ids
    /// are never used again. `groupsListing` finds the groups that may list a CID hash: those of its latest deletion
    /// count, and of those the groups whose lists hold it. `hasLeftovers` says that some list holds a deleted action.
    struct AccountRecord {
        address adminWalletAddress;
        bool exists;
        bool managed;
        bool hasLeftovers;
        uint64 lastGroupId;
        string name;
        string description;
        OrderedSet.Set usageKeys;
        OrderedSet.Set groups;
        OrderedSet.Set wallets;
        OrderedSet.Set actions;
        GroupIds.Set liveGroups;
        mapping(uint256 keyHash => KeyRecord) keyRecords;
        mapping(uint64 groupId => GroupRecord) groupRecords;
        mapping(bytes32 pkpId => Wallet) walletRecords;
        mapping(bytes32 cidHash => Action) actionRecords;
        mapping(bytes32 cidHash => uint256) deletionsOf;
        mapping(bytes32 cidHash => mapping(uint256 deletions => GroupIds.Set)) groupsListing;
    }

    uint256 private constant _MAX_PAGE_SIZE = 100;

    mapping(uint256 accountHash => AccountRecord) internal _accounts;
    mapping(uint256 keyHash => uint256 accountHash) internal _accountOfUsageKey;

    modifier validPage(uint256 pageSize) {
        if (pageSize == 0 || pageSize > _MAX_PAGE_SIZE) revert PageSizeOutOfRange(pageSize);
        _;
    }

    /// @dev The account of any key, its own hash included; 0 if the key is unknown. An account comes before a usage key of
    /// the same hash, which somebody attached before the account was created.
    function _accountHashOf(uint256 keyHash) internal view returns (uint256) {
        return _accounts[keyHash].exists ? keyHash : _accountOfUsageKey[keyHash];
    }

    /// @dev The account for a view; refuses an unknown one.
    function _knownAccount(uint256 accountHash) internal view returns (AccountRecord storage account) {
        account = _accounts[accountHash];
        if (!account.exists) revert AccountUnknown(accountHash);
    }

    /// @dev The account of an owner-only write; refuses the sender, an expired key and any usage key, in this order.
    function _ownedAccount(uint256 adminHash) internal view returns (AccountRecord storage) {
        uint256 accountHash = _accountHashOf(adminHash);
        if (accountHash == 0) revert AccountUnknown(adminHash);
        _requireUsable(accountHash, adminHash);
        if (accountHash != adminHash) revert OwnerOnly(adminHash);
        return _accounts[accountHash];
    }

    /// @dev The account of a write that is open to usage keys; refuses the sender and an expired key. The scope is
    /// checked by the write itself.
    function _actingAccount(uint256 keyHash) internal view returns (AccountRecord storage, uint256 accountHash) {
        accountHash = _accountHashOf(keyHash);
        if (accountHash == 0) revert KeyUnknown(keyHash);
        _requireUsable(accountHash, keyHash);
        return (_accounts[accountHash], accountHash);
    }

    function _requireUsable(uint256 accountHash, uint256 keyHash) private view {
        AccountRecord storage account = _accounts[accountHash];
        bool permitted = account.managed ? _isPayer(msg.sender) : msg.sender == account.adminWalletAddress;
        if (!permitted) revert SenderNotPermitted(accountHash, msg.sender);
        if (_isExpired(accountHash, keyHash)) {
            revert KeyExpired(keyHash, account.keyRecords[keyHash].values.expiration);
        }
    }

    /// @dev Never true for an account's own hash, which has no key record.
    function _isExpired(uint256 accountHash, uint256 keyHash) internal view returns (bool) {
        uint256 expiration = _accounts[accountHash].keyRecords[keyHash].values.expiration;
        return expiration != 0 && block.timestamp >= expiration;
    }

    /// @dev Refuses a usage key without an account-wide scope; `granted` is its bool.
    function _requireAccountScope(uint256 accountHash, uint256 keyHash, bool granted, string memory scope)
        internal
        pure
    {
        if (keyHash != accountHash && !granted) revert ScopeMissing(keyHash, scope, 0);
    }

    /// @dev Refuses a usage key that holds a scope neither for this group nor for all. `groupId` 0 asks for all.
    function _requireGroupScope(uint256 accountHash, uint256 keyHash, GroupScope scope, uint64 groupId) internal view {
        if (keyHash == accountHash) return;
        GroupIds.Set storage groupIds = _accounts[accountHash].keyRecords[keyHash].groupsIn[scope];
        if (groupIds.contains(0) || groupIds.contains(groupId)) return;
        revert ScopeMissing(keyHash, _scopeName(scope), groupId);
    }

    /// @dev A group of the account; refuses one that does not exist, 0 included.
    function _group(AccountRecord storage account, uint256 accountHash, uint64 groupId)
        internal
        view
        returns (GroupRecord storage)
    {
        if (!account.groups.contains(_groupItem(groupId))) revert GroupUnknown(accountHash, groupId);
        return account.groupRecords[groupId];
    }

    /// @dev The two lists of a group as they are now.
    function _lists(AccountRecord storage account, uint64 groupId) internal view returns (GroupLists storage) {
        GroupRecord storage group = account.groupRecords[groupId];
        return group.listsOf[group.generation];
    }

    /// @dev The groups that may list an action, or the wildcard.
    function _listing(AccountRecord storage account, bytes32 cidHash) internal view returns (GroupIds.Set storage) {
        return account.groupsListing[cidHash][account.deletionsOf[cidHash]];
    }

    /// @dev Whether a group lists an action, or the wildcard.
    function _listsAction(AccountRecord storage account, uint64 groupId, bytes32 cidHash) internal view returns (bool) {
        return _listing(account, cidHash).contains(groupId) && _lists(account, groupId).cidHashes.contains(cidHash);
    }

    function _groupItem(uint64 groupId) internal pure returns (bytes32) {
        return bytes32(uint256(groupId));
    }

    /// @dev Never asked for `Execute`: only views look at that scope, and they refuse nothing.
    function _scopeName(GroupScope scope) private pure returns (string memory) {
        if (scope == GroupScope.ManageActions) return "group:manageActions";
        if (scope == GroupScope.AddPkp) return "group:addPkp";
        return "group:removePkp";
    }
}
