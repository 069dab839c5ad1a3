// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Access} from "./Access.sol";
import {Bits} from "./Bits.sol";
import {GroupIds} from "./GroupIds.sol";
import {OrderedSet} from "./OrderedSet.sol";

/// @title Execution
/// @notice Who may run which action with which wallet.
/// @dev Specification, "Endpoints / Execution rule".
abstract contract Execution is Access {
    using GroupIds for GroupIds.Set;
    using OrderedSet for OrderedSet.Set;

    /// @notice The execution rule: one group that the key may execute in lists both the action and the wallet.
    /// @dev False for an unknown or expired key and for a wallet that the account has not registered.
    function canExecute(uint256 keyHash, bytes32 cidHash, bytes32 pkpId) external view returns (bool) {
        if (!_accounts[_accountHashOf(keyHash)].wallets.contains(pkpId)) return false;
        return _someGroupAllows(keyHash, cidHash, pkpId, true);
    }

    /// @notice Conditions 1 and 2 of the execution rule, for an action that uses no wallet.
    function canRun(uint256 keyHash, bytes32 cidHash) external view returns (bool) {
        return _someGroupAllows(keyHash, cidHash, 0, false);
    }

    /// @dev Looks at the live groups that may list the action, or all actions, and that the key may execute in: 256 at a
    /// time.
    function _someGroupAllows(uint256 keyHash, bytes32 cidHash, bytes32 pkpId, bool withWallet)
        private
        view
        returns (bool)
    {
        uint256 accountHash = _accountHashOf(keyHash);
        if (accountHash == 0 || _isExpired(accountHash, keyHash)) return false;
        AccountRecord storage account = _accounts[accountHash];
        GroupIds.Set storage named = account.keyRecords[keyHash].groupsIn[GroupScope.Execute];
        GroupIds.Set storage listing = _listing(account, cidHash);
        bool inAllGroups = keyHash == accountHash || named.contains(0);
        for (uint256 word = 0; word <= account.lastGroupId >> 8; ++word) {
            uint256 groups = listing.words[word] | account.groupsListing[0][0].words[word];
            if (groups == 0) continue;
            groups &= account.liveGroups.words[word];
            if (!inAllGroups) groups &= named.words[word];
            for (; groups != 0; groups = Bits.withoutLowest(groups)) {
                uint64 groupId = uint64((word << 8) | Bits.lowest(groups));
                if (_allows(account, groupId, listing.contains(groupId), cidHash, pkpId, withWallet)) return true;
            }
        }
        return false;
    }

    /// @dev Whether a group's lists hold the action and the wallet; `counts` says that an entry of the action does.
    function _allows(
        AccountRecord storage account,
        uint64 groupId,
        bool counts,
        bytes32 cidHash,
        bytes32 pkpId,
        bool withWallet
    ) private view returns (bool) {
        GroupLists storage lists = _lists(account, groupId);
        if (!(counts && lists.cidHashes.contains(cidHash)) && !lists.cidHashes.contains(0)) return false;
        return !withWallet || lists.pkpIds.contains(pkpId) || lists.pkpIds.contains(0);
    }
}
