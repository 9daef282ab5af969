/** Redirect rules of an environment. */
import { parseVisit } from "@sitewright/edge/redirects/loops.ts";
import { createRedirects, isSelfRedirect } from "@sitewright/edge/redirects/redirects.ts";
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
import { checkEach, checkTogether, isOwn, normalise, type RuleInput, ruleText } from "./redirectRuleChecks.ts";
import { readCsv, writeCsv } from "./redirectRuleCsv.ts";
import { type PageQuery, pageOf } from "./redirectRulePage.ts";
import { changeRoutes } from "./routeChanges.ts";

interface RulesUpdate extends PageQuery {
  readonly action_type: "NEW" | "UPDATE" | "DELETE" | "DELETE_ALL";
  readonly rules_to_update?: readonly RuleInput[];
  readonly new_value?: RuleInput;
}

interface Change {
  /** All rules after the change. */
  readonly rules: readonly StoredRule[];
  /** The new ones among them. */
  readonly added: readonly StoredRule[];
  /** The path in the request of the new rule with that index. */
  readonly pathOf: (index: number) => string;
}

export async function list(context: Context, environmentId: string, query: PageQuery) {
  return pageOf(await rulesOf(context, environmentId), query);
}

/** Changes the rules. The edge applies them before the request is answered. */
export async function update(context: Context, environmentId: string, request: RulesUpdate) {
  const changed = await change(context, environmentId, ({ rules }) => applyUpdate(rules, request));
  return pageOf(changed, request);
}

export async function exportCsv(context: Context, environmentId: string): Promise<string> {
  return writeCsv((await rulesOf(context, environmentId)).rules);
}

/** Imports rules from CSV. The edge applies them before the request is answered. */
export async function importCsv(context: Context, environmentId: string, request: { csv: string; replace?: boolean }) {
  const added = readCsv(request.csv).map(normalise);
  const { rules } = await change(context, environmentId, ({ rules: before }) => ({
    rules: request.replace === true ? added : [...before, ...added],
    added,
    pathOf: (index) => `/csv/${index + 1}`,
  }));
  return { imported: added.length, redirect_rules_count: rules.length };
}

interface UrlTest {
  readonly url: string;
  readonly country?: string | null;
  readonly city?: string | null;
}

/** Returns the redirect that a visitor of the URL would get from the stored rules. */
export async function testUrl(context: Context, environmentId: string, { url, country, city }: UrlTest) {
  const { id, rules } = await rulesOf(context, environmentId);
  const names = await namesOfEnvironment(context.database, id);
  const place = { country: country?.toUpperCase() || null, city: city || null };
  const visit = parseVisit(url, `http://${names[0]?.name ?? "localhost"}/`, () => place);
  if (visit === null || !isOwn(visit.host, names)) {
    const message = "must be a path, or an http(s) URL with a domain of the environment";
    throw new Refused("redirect_rule_refused", `url ${message}.`, { errors: [{ path: "/url", message }] });
  }
  const redirect = createRedirects(rules.map(forEdge)).find(visit);
  if (redirect === null || isSelfRedirect(redirect, visit)) return { rule: null, status: null, location: null };
  const rule = rules.find((each) => ruleText(each) === JSON.stringify(redirect.rule)) ?? null;
  return { rule, status: redirect.status, location: redirect.location };
}

async function rulesOf(context: Context, environmentId: string): Promise<RuleList> {
  const found = await findRedirectRules(context.database, environmentId);
  if (found === null) throw new NotFound();
  return found;
}

async function change(
  context: Context,
  environmentId: string,
  decide: (before: RuleList) => Change,
): Promise<RuleList> {
  return changeRoutes(context, async (transaction) => {
    const before = await lockRedirectRules(transaction, environmentId);
    if (before === null) throw new NotFound();
    const { rules, added, pathOf } = decide(before);
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

function applyUpdate(before: readonly StoredRule[], request: RulesUpdate): Change {
  const pathOf = (index: number) => (request.new_value === undefined ? `/rules_to_update/${index}` : "/new_value");
  const listed = (request.rules_to_update ?? []).map(normalise);
  const newRule = request.new_value === undefined ? null : normalise(request.new_value);
  switch (request.action_type) {
    case "DELETE_ALL":
      return { rules: [], added: [], pathOf };
    case "DELETE": {
      const deleted = new Set(listed.map(ruleText));
      if (deleted.size === 0) throw missing("Send the rules to delete in rules_to_update.");
      return { rules: before.filter((rule) => !deleted.has(ruleText(rule))), added: [], pathOf };
    }
    case "NEW": {
      const added = newRule === null ? listed : [newRule];
      if (added.length === 0) throw missing("Send the rules to add in new_value or rules_to_update.");
      return { rules: [...before, ...added], added, pathOf };
    }
    case "UPDATE": {
      const [oldRule] = listed;
      if (oldRule === undefined || newRule === null) {
        throw missing("Send the old rule in rules_to_update and the new one in new_value.");
      }
      const index = before.findIndex((rule) => ruleText(rule) === ruleText(oldRule));
      if (index === -1) throw missing("The environment has no rule that equals the first of rules_to_update.");
      return { rules: before.with(index, newRule), added: [newRule], pathOf };
    }
  }
}

function missing(message: string): Refused {
  return new Refused("redirect_rule_missing", message);
}
