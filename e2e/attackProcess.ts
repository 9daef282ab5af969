/**
 * Carries out attacks of `attacks.ts` until it is killed. Arguments: the attacker as JSON, and the names of the attacks. Sends the
 * name of each attack that has reached its target.
 */
import { constants, setPriority } from "node:os";
import { attacks } from "./attacks.ts";

// Real attackers have their own processors.
setPriority(constants.priority.PRIORITY_LOW);
// Ctrl-C does not reach this process, because it has its own session.
process.once("disconnect", () => process.exit());
const [attacker = "", ...names] = process.argv.slice(2);
const reached = new Set<string>();
for (const name of names) {
  const attack = attacks[name];
  attack?.run(JSON.parse(attacker), (status) => {
    if (reached.has(name) || !attack.reaches.includes(status)) return;
    reached.add(name);
    process.send?.(name);
  });
}
