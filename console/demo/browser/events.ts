/** The stream of events of the demo: what `EventSource` is in the browser, without a server. */
import type { DemoEvent, World } from "../world/world.ts";

/** Makes the class that takes the place of `EventSource`. `isOffline`: whether there is no connection at the moment. */
export function makeEventSource(world: World, isOffline: () => boolean) {
  return class DemoEventSource extends EventTarget {
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    static readonly CLOSED = 2;
    readyState: number = DemoEventSource.CONNECTING;

    constructor() {
      super();
      // As with the real one, listeners can be added before the first event.
      setTimeout(() => this.#open());
    }

    #open(): void {
      if (this.readyState === DemoEventSource.CLOSED) return;
      if (isOffline()) {
        this.#lose();
        return;
      }
      this.readyState = DemoEventSource.OPEN;
      world.listeners.add(this.#pass);
      this.dispatchEvent(new Event("open"));
    }

    readonly #pass = ({ id, type, data }: DemoEvent): void => {
      if (isOffline()) {
        this.#lose();
        return;
      }
      const timestamp = new Date(world.clock.now()).toISOString();
      const body = JSON.stringify({ type, timestamp, data });
      this.dispatchEvent(new MessageEvent(type, { data: body, lastEventId: String(id) }));
    };

    #lose(): void {
      this.close();
      this.dispatchEvent(new Event("error"));
    }

    close(): void {
      this.readyState = DemoEventSource.CLOSED;
      world.listeners.delete(this.#pass);
    }
  };
}
