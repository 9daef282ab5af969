/** Tells the console what has happened. */
import type { World } from "./world.ts";

export function send(world: World, type: string, data: Readonly<Record<string, unknown>>): void {
  world.lastNumber += 1;
  for (const listener of world.listeners) listener({ id: world.lastNumber, type, data });
}
