import { expect, test } from "vitest";
import type { ServedEnvironment } from "../serving.ts";
import { combineEngines, type Engine, whenNeeded } from "./engine.ts";

/** An engine that can't start a worker, and records its calls. */
function engineNamed(name: string, events: string[]): Engine {
  return {
    start: () => {
      throw new Error(`${name} is asked`);
    },
    anticipate: ({ id }) => events.push(`${name} anticipates ${id}`),
    status: () => ({ preparedWorkers: 2, machinery: { [name]: true } }),
    close: async () => {
      events.push(`${name} is closed`);
    },
  };
}

function environment(runtime?: string): ServedEnvironment {
  const layout = { release: 1, documentRoot: "/public", overlays: {}, multisite: null };
  return { id: "site", number: 1, phpVersion: "8.3", ...layout, ...(runtime !== undefined && { runtime }) };
}

test("each environment is for the engine of its runtime; if it names none, for the playground", async () => {
  const events: string[] = [];
  const engine = combineEngines({
    playground: engineNamed("playground", events),
    native: engineNamed("native", events),
  });
  expect(() => engine.start(environment("native"), false)).toThrow("native is asked");
  expect(() => engine.start(environment(), false)).toThrow("playground is asked");
  expect(() => engine.start(environment("unknown"), false)).toThrow("There is no runtime unknown here.");
  engine.anticipate?.(environment("native"));
  await engine.close();
  expect(events).toEqual(["native anticipates site", "playground is closed", "native is closed"]);
});

test("the status is that of all engines", () => {
  const engine = combineEngines({ playground: engineNamed("playground", []), native: engineNamed("native", []) });
  expect(engine.status()).toEqual({ preparedWorkers: 4, machinery: { playground: true, native: true } });
});

test("an engine can be made when it is needed, and only once", async () => {
  const events: string[] = [];
  const engine = whenNeeded(() => {
    events.push("made");
    return engineNamed("native", events);
  });
  expect(engine.status()).toEqual({ preparedWorkers: 0, machinery: {} });
  await engine.close();
  expect(events).toEqual([]);
  engine.anticipate?.(environment());
  expect(() => engine.start(environment(), false)).toThrow("native is asked");
  expect(engine.status().preparedWorkers).toBe(2);
  await engine.close();
  expect(events).toEqual(["made", "native anticipates site", "native is closed"]);
});
