/**
 * Labels of sites. They decide what some users and keys see, so that a change of them is in force before it is answered, like
 * a change of the users and keys themselves.
 */
import { randomUUID } from "node:crypto";
import type { ActivityType } from "@sitewright/contract/company/activity.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import {
  assignLabel,
  countLabelled,
  countLabels,
  insertLabel,
  isLabelNameTaken,
  type LabelBrief,
  type LabelRecord,
  listLabels,
  lockLabel,
  removeLabel,
  updateLabel,
} from "@sitewright/server/store/sites/labels.ts";
import { sitesInScope } from "../company/access.ts";
import { recordDone } from "../company/activityEntries.ts";
import { changeKeys } from "../company/apiKeys.ts";
import { requireSites } from "../company/ownIds.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";

const maxPerCompany = 500;

/** Lists the labels of the sites in the caller's scope, or all of the company. */
export function list({ database, caller }: Context): Promise<LabelRecord[]> {
  return listLabels(database, caller.companyId, sitesInScope(caller));
}

/** Throws `Refused` if the name is taken, or the company has too many labels. */
export function create(context: Context, { name }: { readonly name: string }): Promise<LabelRecord> {
  const { companyId } = context.caller;
  return changeKeys(context, async (transaction) => {
    const label = { id: randomUUID(), name: name.trim() };
    await requireFreeName(context, transaction, label);
    if ((await countLabels(transaction, companyId)) >= maxPerCompany) {
      throw new Refused("too_many_labels", `The company has ${maxPerCompany} labels. Delete some first.`);
    }
    await insertLabel(transaction, companyId, label);
    await record(context, transaction, "createLabel", label);
    return { ...label, site_count: 0 };
  });
}

export function rename(context: Context, labelId: string, { name }: { readonly name: string }): Promise<LabelRecord> {
  return changeKeys(context, async (transaction) => {
    const { id } = await requireLabel(context, transaction, labelId);
    const renamed = { id, name: name.trim() };
    await requireFreeName(context, transaction, renamed);
    await updateLabel(transaction, renamed);
    await record(context, transaction, "renameLabel", renamed);
    return counted(transaction, renamed);
  });
}

/** Deletes the label, and with it the access to sites that it gave people and API keys. */
export function remove(context: Context, labelId: string): Promise<LabelRecord> {
  return changeKeys(context, async (transaction) => {
    const label = await requireLabel(context, transaction, labelId);
    const deleted = await counted(transaction, label);
    await removeLabel(transaction, label.id);
    await record(context, transaction, "deleteLabel", label);
    return deleted;
  });
}

interface Assignment {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

/** Adds the label to sites and removes it from others. Throws `Refused` if the company lacks one of the former. */
export async function assign(
  context: Context,
  labelId: string,
  { add = [], remove = [] }: Assignment,
): Promise<LabelRecord> {
  const { companyId } = context.caller;
  const added = [...new Set(add.map((id) => id.toLowerCase()))];
  await requireSites(context, added);
  return changeKeys(context, async (transaction) => {
    const label = await requireLabel(context, transaction, labelId);
    await assignLabel(transaction, { companyId, labelId: label.id }, { add: added, remove });
    await record(context, transaction, "assignLabel", label);
    return counted(transaction, label);
  });
}

async function requireLabel(
  { caller }: Context,
  transaction: DatabaseTransaction,
  labelId: string,
): Promise<LabelBrief> {
  const label = await lockLabel(transaction, caller.companyId, labelId);
  if (label === null) throw new NotFound();
  return label;
}

async function requireFreeName(
  { caller }: Context,
  transaction: DatabaseTransaction,
  label: LabelBrief,
): Promise<void> {
  if (!(await isLabelNameTaken(transaction, caller.companyId, label))) return;
  throw new Refused("label_name_taken", `The company has a label with the name “${label.name}”. Choose another name.`);
}

async function counted(transaction: DatabaseTransaction, { id, name }: LabelBrief): Promise<LabelRecord> {
  return { id, name, site_count: await countLabelled(transaction, id) };
}

async function record(
  context: Context,
  transaction: DatabaseTransaction,
  type: Extract<ActivityType, `${string}Label`>,
  { name }: LabelBrief,
): Promise<void> {
  await recordDone(context, transaction, { type, category: "siteActions", parameters: { labelName: name } });
}
