/** Whether the last call reached the API. */
import { useSyncExternalStore } from "react";

let isConnected = true;
const listeners = new Set<() => void>();

export function setConnected(value: boolean): void {
  if (value === isConnected) return;
  isConnected = value;
  for (const listener of listeners) listener();
}

export function useConnected(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isConnected,
  );
}
