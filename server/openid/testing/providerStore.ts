/** What the provider of tests remembers, in memory. It outlives the provider's keys. */
import type { Adapter, AdapterPayload } from "oidc-provider";

export type ProviderStore = Map<string, AdapterPayload>;

/** Returns what the provider makes a store for a kind of things with. */
export const adapterOf = (store: ProviderStore) => (kind: string) => storeOf(store, kind);

function storeOf(store: ProviderStore, kind: string): Adapter {
  const keyOf = (id: string) => `${kind} ${id}`;
  const findBy = (name: "uid" | "userCode", value: string) =>
    [...store].find(([key, payload]) => key.startsWith(`${kind} `) && payload[name] === value)?.[1];
  return {
    upsert: async (id, payload) => void store.set(keyOf(id), payload),
    find: async (id) => store.get(keyOf(id)),
    findByUid: async (uid) => findBy("uid", uid),
    findByUserCode: async (code) => findBy("userCode", code),
    consume: async (id) => {
      const payload = store.get(keyOf(id));
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
    },
    destroy: async (id) => void store.delete(keyOf(id)),
    revokeByGrantId: async (grantId) => {
      for (const [key, payload] of store) if (payload.grantId === grantId) store.delete(key);
    },
  };
}
