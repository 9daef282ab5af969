/**
 * Carries out attacks of `attacks.ts` until it is killed. Arguments: the attacker as JSON, and the names of the attacks. Sends the
 * name of each attack that has reached its target.
 */
import { attacks } from "./attacks.ts";
import { useNormalPriority } from "./priority.ts";

useNormalPriority();
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
