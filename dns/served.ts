/**
 * The state in force, which is always replaced as a whole. Running responses finish with the state they started with.
 */
import { type Key, type OpenSecret, openKeys } from "./keys.ts";
import type { Name } from "./names.ts";
import type { DnsSecondary } from "./table.ts";
import type { TableText } from "./tableText.ts";
import { createZones, type Zones } from "./zones.ts";

export interface DnsLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface State {
  readonly generation: number;
  readonly zones: Zones;
  readonly keys: ReadonlyMap<Name, Key>;
  readonly secondaries: readonly DnsSecondary[];
}

export interface Served {
  readonly state: State;
  /** Puts a table in force. Returns the generation in force: the table's, or a newer one that was there already. */
  set(table: TableText): number;
}

/** `onChange` is called once a new state is in force. */
export function createServed(
  openSecret: OpenSecret,
  log: DnsLog,
  onChange: (before: State, after: State) => void,
): Served {
  let state = stateOf({ generation: 0, zones: [], keys: [], secondaries: [] });

  function stateOf({ generation, zones, keys, secondaries }: TableText): State {
    return {
      generation,
      zones: createZones(zones, (zone, err) => log.error({ zone, err }, "This zone can't be served")),
      keys: openKeys(keys, openSecret, (key, err) => log.error({ key, err }, "This key can't be used")),
      secondaries,
    };
  }

  return {
    get state() {
      return state;
    },
    set(table) {
      if (table.generation <= state.generation) return state.generation;
      const before = state;
      state = stateOf(table);
      onChange(before, state);
      return state.generation;
    },
  };
}
