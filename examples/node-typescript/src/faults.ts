/** The ten faulty switches: each breaks one sentence of the specification. Started with `--fault NAME`. */

export const FAULTS = {
  "key-value-listed": "list_api_keys returns the value of each usage key",
  "permissions-merged": "update_usage_api_key adds the new group ids to the old ones instead of replacing them",
  "metadata-resets-permissions": "update_usage_api_key_metadata takes all permissions from the key",
  "removed-key-lives": "a removed usage key leaves the list but still works",
  "removed-group-runs": "a removed group leaves the list but still permits its actions and wallets",
  "split-groups": "one group may list the action and another the wallet",
  "wildcard-ignored-for-removal": "remove_pkp_from_groups [0] permits nothing",
  "add-permission-removes": "add_pkp_to_groups also permits removing wallets from the group",
  "reads-charged": "list endpoints are charged like writes",
  "issued-in-future": "typed data is refused when it is too old, never when it is too new",
} as const;

export type Fault = keyof typeof FAULTS;

/** The fault of this name; undefined when there is none. */
export function faultNamed(name: string): Fault | undefined {
  return (Object.keys(FAULTS) as Fault[]).find((fault) => fault === name);
}
