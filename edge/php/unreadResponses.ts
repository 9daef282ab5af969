/**
 * Limits the bytes of PHP's responses that visitors have not read yet. They are in this process's memory, because a slow
 * visitor must not occupy a PHP worker.
 *
 * Over the limit, responses are cut off: of the company that has the most unread bytes, from its visitors' network that
 * has the most, the largest. So those who read nothing lose their own connections, and sites of other companies none.
 */
import type { Claimant } from "../bodies/budget.ts";

export interface UnreadResponses {
  /** Watches a response until the returned function is called. */
  watch(response: UnreadResponse): () => void;
}

export interface UnreadResponse {
  readonly claimant: Claimant;
  /** Bytes that PHP has sent and the visitor has not read. */
  bytes(): number;
  /** Closes the connection. */
  cutOff(): void;
}

interface Measured {
  readonly response: UnreadResponse;
  readonly bytes: number;
}

const checkMilliseconds = 1_000;

/** `onCutOff` is called with the number of responses that a check has cut off. */
export function createUnreadResponses(maxBytes: number, onCutOff: (count: number) => void): UnreadResponses {
  const watched = new Set<UnreadResponse>();
  let timer: NodeJS.Timeout | null = null;

  function check(): void {
    let open: readonly Measured[] = [...watched].map((response) => ({ response, bytes: response.bytes() }));
    const before = open.length;
    while (sum(open) > maxBytes) {
      const worst = worstOf(open);
      open = open.filter(({ response }) => response !== worst);
      worst.cutOff();
    }
    if (open.length < before) onCutOff(before - open.length);
  }

  return {
    watch(response) {
      watched.add(response);
      timer ??= setInterval(check, checkMilliseconds).unref();
      return () => {
        watched.delete(response);
        if (watched.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}

/** `open` must not be empty. */
function worstOf(open: readonly Measured[]): UnreadResponse {
  const ofCompany = largestGroup(open, ({ response }) => response.claimant.payer);
  const ofNetwork = largestGroup(ofCompany, ({ response }) => response.claimant.network ?? "");
  return ofNetwork.reduce((most, each) => (each.bytes > most.bytes ? each : most)).response;
}

function largestGroup(open: readonly Measured[], nameOf: (each: Measured) => string): readonly Measured[] {
  const groups = [...Map.groupBy(open, nameOf).values()];
  return groups.reduce((most, each) => (sum(each) > sum(most) ? each : most));
}

function sum(open: readonly Measured[]): number {
  return open.reduce((total, { bytes }) => total + bytes, 0);
}
