/** Where an environment's visitors are sent instead. */
import { askedOf } from "@sitewright/edge/redirects/loops.ts";
import { createRedirects, leadsToItself } from "@sitewright/edge/redirects/redirects.ts";
import type { DatabaseTransaction, StoredRule } from "@sitewright/server/store/database.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import {
  findRedirectRules,
  forEdge,
  lockRedirectRules,
  namesOfEnvironment,
  type RuleList,
  setRedirectRules,
} from "@sitewright/server/store/traffic/redirectRules.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { checkEach, checkTogether, isOwn, normalise, type RuleWish, sameText } from "./redirectRuleChecks.ts";
import { readCsv, writeCsv } from "./redirectRuleCsv.ts";
import { type PageWish, pageOf } from "./redirectRulePage.ts";
import { changeRoutes } from "./routeChanges.ts";

export interface RulesUpdate extends PageWish {
  readonly action_type: "NEW" | "UPDATE" | "DELETE" | "DELETE_ALL";
  readonly rules_to_update?: readonly RuleWish[];
  readonly new_value?: RuleWish;
}

/** What becomes of the rules, and which of them are new, with where they stand in the request. */
interface Change {
  readonly rules: readonly StoredRule[];
  readonly added: readonly StoredRule[];
  readonly pathOf: (index: number) => string;
}

export async function list(context: Context, environmentId: string, wish: PageWish) {
  return pageOf(await rulesOf(context, environmentId), wish);
}

/** The edge has them when the request is answered. */
export async function update(context: Context, environmentId: string, wish: RulesUpdate) {
  const found = await change(context, environmentId, ({ rules }) => changed(rules, wish));
  return pageOf(found, wish);
}

export async function exportCsv(context: Context, environmentId: string): Promise<string> {
  return writeCsv((await rulesOf(context, environmentId)).rules);
}

export async function importCsv(context: Context, environmentId: string, wish: { csv: string; replace?: boolean }) {
  const added = readCsv(wish.csv).map(normalise);
  const { rules } = await change(context, environmentId, ({ rules: before }) => ({
    rules: wish.replace === true ? added : [...before, ...added],
    added,
    pathOf: (index) => `/csv/${index + 1}`,
  }));
  return { imported: added.length, redirect_rules_count: rules.length };
}

export interface Trial {
  readonly url: string;
  readonly country?: string | null;
  readonly city?: string | null;
}

/** What a visitor would get, by the rules that are kept. */
export async function tryOut(context: Context, environmentId: string, { url, country, city }: Trial) {
  const { id, rules } = await rulesOf(context, environmentId);
  const names = await namesOfEnvironment(context.database, id);
  const place = { country: country?.toUpperCase() || null, city: city || null };
  const asked = askedOf(url, `http://${names[0]?.name ?? "localhost"}/`, () => place);
  if (asked === null || !isOwn(asked.host, names)) {
    throw new Refused(
      "redirect_rule_refused",
      "url must be a path, or an http(s) address at a domain of the environment.",
      {
        errors: [{ path: "/url", message: "must be a path, or an http(s) address at a domain of the environment" }],
      },
    );
  }
  const redirect = createRedirects(rules.map(forEdge)).find(asked);
  if (redirect === null || leadsToItself(redirect, asked)) return { rule: null, status: null, location: null };
  const rule = rules.find((each) => sameText(each) === JSON.stringify(redirect.rule)) ?? null;
  return { rule, status: redirect.status, location: redirect.location };
}

async function rulesOf(context: Context, environmentId: string): Promise<RuleList> {
  const found = await findRedirectRules(context.database, environmentId);
  if (found === null) throw new NotFound();
  return found;
}

async function change(context: Context, environmentId: string, work: (before: RuleList) => Change): Promise<RuleList> {
  return changeRoutes(context, async (transaction) => {
    const before = await lockRedirectRules(transaction, environmentId);
    if (before === null) throw new NotFound();
    const { rules, added, pathOf } = work(before);
    const names = await namesOfEnvironment(transaction, before.id);
    checkEach(added, names, context.knowsPlaces, pathOf);
    if (added.length > 0) checkTogether(rules, added, names);
    await setRedirectRules(transaction, before.id, rules);
    await record(context, transaction, before.id);
    return { id: before.id, rules };
  });
}

async function record(context: Context, transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  const environment = await environmentForOperation(transaction, environmentId);
  if (!environment) throw new NotFound();
  await recordDone(context, transaction, {
    type: "updateRedirectRules",
    category: "siteActions",
    siteId: environment.site_id,
    parameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
  });
}

function changed(before: readonly StoredRule[], wish: RulesUpdate): Change {
  const pathOf = (index: number) => (wish.new_value === undefined ? `/rules_to_update/${index}` : "/new_value");
  const named = (wish.rules_to_update ?? []).map(normalise);
  const fresh = wish.new_value === undefined ? null : normalise(wish.new_value);
  switch (wish.action_type) {
    case "DELETE_ALL":
      return { rules: [], added: [], pathOf };
    case "DELETE": {
      const gone = new Set(named.map(sameText));
      if (gone.size === 0) throw missing("rules_to_update must name the rules to remove.");
      return { rules: before.filter((rule) => !gone.has(sameText(rule))), added: [], pathOf };
    }
    case "NEW": {
      const added = fresh === null ? named : [fresh];
      if (added.length === 0) throw missing("new_value or rules_to_update must have the rules to add.");
      return { rules: [...before, ...added], added, pathOf };
    }
    case "UPDATE": {
      const [old] = named;
      if (old === undefined || fresh === null) throw missing("rules_to_update and new_value must have a rule each.");
      const place = before.findIndex((rule) => sameText(rule) === sameText(old));
      if (place === -1) throw missing("The environment has no rule that equals the first of rules_to_update.");
      return { rules: before.with(place, fresh), added: [fresh], pathOf };
    }
  }
}

function missing(message: string): Refused {
  return new Refused("redirect_rule_missing", message);
}
