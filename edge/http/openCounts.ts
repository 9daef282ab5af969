/** Limits what each of many parties, such as networks, has open at once, such as connections. */
export interface OpenCounts {
  /** Counts one more for the party of this name until `owner` closes. False if it has reached the limit. */
  add(name: string, owner: Closable): boolean;
}

export interface Closable {
  once(event: "close", listener: () => void): unknown;
}

/** `onRefusal` is called when a party reaches the limit, and again only after it had nothing open. */
export function createOpenCounts(max: number, onRefusal: (name: string) => void): OpenCounts {
  const counts = new Map<string, number>();
  const refused = new Set<string>();

  function remove(name: string): void {
    const left = (counts.get(name) ?? 0) - 1;
    if (left > 0) counts.set(name, left);
    else {
      counts.delete(name);
      refused.delete(name);
    }
  }

  function refuse(name: string): false {
    if (!refused.has(name)) onRefusal(name);
    refused.add(name);
    return false;
  }

  return {
    add(name, owner) {
      const count = counts.get(name) ?? 0;
      if (count >= max) return refuse(name);
      counts.set(name, count + 1);
      owner.once("close", () => remove(name));
      return true;
    },
  };
}
