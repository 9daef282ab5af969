/** Which requests come from programs: crawlers, monitors and everything else that says so in its user agent. */
import { isbot } from "isbot";
import { LRUCache } from "lru-cache";

const remembered = 2_000;
/** Longer ones are not kept in memory, and no browser sends them. */
const maxLength = 1_000;

/** Returns a function that tells whether a user agent is a bot's. Browsers always send one. */
export function createBotCheck(): (userAgent: string | undefined) => boolean {
  const known = new LRUCache<string, boolean>({ max: remembered });
  return (userAgent) => {
    if (userAgent === undefined || userAgent === "" || userAgent.length > maxLength) return true;
    const found = known.get(userAgent);
    if (found !== undefined) return found;
    const isBot = isbot(userAgent);
    known.set(userAgent, isBot);
    return isBot;
  };
}
