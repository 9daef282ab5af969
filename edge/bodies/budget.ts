/**
 * A budget of bytes that all request bodies share, with a share per payer and per network.
 *
 * Shares are not fixed: a payer may hold as much as it leaves to the others, and a network half of that (dynamic
 * thresholds, as in switches whose ports share a buffer). One payer alone gets half of the budget, two get a third
 * each. So a single large upload has much space, and newcomers always find some, however many others hold theirs.
 */

/** Who is charged for a body. */
export interface Claimant {
  /** The account that the site belongs to. */
  readonly payer: string;
  /** The visitor's network, or null for requests that no visitor sent. */
  readonly network: string | null;
}

export interface Budget {
  /** Starts a claim of 0 bytes. Always call `release`. */
  claim(claimant: Claimant): Claim;
  /** Bytes that all claims hold. */
  held(): number;
}

export interface Claim {
  /**
   * Raises the claim to `bytes` in total if a budget of `limitBytes` has room for it. False if not; the claim is then
   * unchanged.
   */
  raise(bytes: number, limitBytes: number): boolean;
  /** Gives everything back. Further calls have no effect. */
  release(): void;
}

/** A network may hold this fraction of what it leaves to the others. */
const networkFraction = 1 / 2;

export function createBudget(): Budget {
  const payers = new Map<string, number>();
  const networks = new Map<string, number>();
  let held = 0;

  function charge({ payer, network }: Claimant, bytes: number): void {
    held += bytes;
    addTo(payers, payer, bytes);
    if (network !== null) addTo(networks, network, bytes);
  }

  function hasRoom({ payer, network }: Claimant, bytes: number, limitBytes: number): boolean {
    const rest = limitBytes - held - bytes;
    if ((payers.get(payer) ?? 0) + bytes > rest) return false;
    return network === null || (networks.get(network) ?? 0) + bytes <= rest * networkFraction;
  }

  return {
    claim(claimant) {
      let claimed = 0;
      return {
        raise(bytes, limitBytes) {
          const more = bytes - claimed;
          if (more <= 0) return true;
          if (!hasRoom(claimant, more, limitBytes)) return false;
          charge(claimant, more);
          claimed = bytes;
          return true;
        },
        release() {
          charge(claimant, -claimed);
          claimed = 0;
        },
      };
    },
    held: () => held,
  };
}

function addTo(held: Map<string, number>, name: string, bytes: number): void {
  const now = (held.get(name) ?? 0) + bytes;
  if (now === 0) held.delete(name);
  else held.set(name, now);
}
