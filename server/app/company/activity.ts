/** The activity log. */
import type { Language } from "@sitewright/contract/company/activity.ts";
import { listActivity } from "@sitewright/server/store/company/activityPages.ts";
import type { EntryRow } from "@sitewright/server/store/company/activitySeals.ts";
import type { Context } from "../context.ts";
import { sitesInScope } from "./access.ts";
import { describeActivity } from "./activityDescriptions.ts";

const maxLimit = 100;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

interface ActivityQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly before?: number;
  readonly category?: string;
  readonly site_id?: string;
  readonly id_initiated_by?: string;
  readonly id_api_key?: string;
  readonly language?: Language;
}

/** Lists the company's entries that match the filters, newest first, and counts them. */
export async function list(context: Context, query: ActivityQuery) {
  const ids = [query.site_id, query.id_initiated_by, query.id_api_key];
  // Ids are UUIDs; the database would report anything else as an error.
  if (ids.some((id) => id !== undefined && !uuid.test(id))) return { items: [], total: 0 };
  const filter = {
    companyId: context.caller.companyId,
    category: query.category ?? null,
    siteId: query.site_id ?? null,
    userId: query.id_initiated_by ?? null,
    apiKeyId: query.id_api_key ?? null,
    siteIds: sitesInScope(context.caller),
  };
  const { limit = 10, offset = 0, before = null } = query;
  const page = { limit: Math.min(limit, maxLimit), offset, before };
  const { items, total } = await listActivity(context.database, filter, page);
  return { items: items.map((entry) => view(entry, query.language ?? "en")), total };
}

function view(entry: EntryRow, language: Language) {
  return {
    id: entry.id,
    site_id: entry.site_id,
    created_at: entry.created_at.getTime(),
    is_done: entry.is_done,
    has_failed: entry.has_failed,
    has_warning: entry.has_warning,
    type: entry.type,
    public_error: entry.public_error,
    ip_address: entry.ip_address,
    initiated_by: initiator(entry),
    user_agent_info: userAgent(entry),
    api_key_info: entry.api_key_id === null ? null : { id: entry.api_key_id, name: entry.api_key_name },
    descriptions: describeActivity(entry.type, entry.parameters, language),
  };
}

function initiator(entry: EntryRow) {
  if (entry.user_id === null) return null;
  return {
    id: entry.user_id,
    role: entry.user_role,
    full_name: entry.user_full_name,
    first_name: entry.user_first_name,
  };
}

function userAgent(entry: EntryRow) {
  const { browser_name, browser_version, os_name } = entry;
  if (browser_name === null && browser_version === null && os_name === null) return null;
  return { browser_name, browser_version, os_name };
}
