import * as zones from "@sitewright/server/app/domains/zones.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const zoneHandlers: HandlersOf<
  | "listZoneVersions"
  | "getZoneVersion"
  | "compareZoneVersions"
  | "restoreZoneVersion"
  | "exportZoneFile"
  | "importZoneFile"
> = {
  listZoneVersions: async (context, { params }) => ({
    status: 200,
    body: { domain: { zone_versions: await zones.listVersions(context, params.domain_id) } },
  }),
  getZoneVersion: async (context, { params }) => ({
    status: 200,
    body: { zone_version: await zones.version(context, params.domain_id, Number(params.serial)) },
  }),
  compareZoneVersions: async (context, { params, query }) => {
    const to = query.to === undefined ? undefined : Number(query.to);
    return {
      status: 200,
      body: { difference: await zones.compare(context, params.domain_id, Number(params.serial), to) },
    };
  },
  restoreZoneVersion: async (context, { params, body }) =>
    accepted("restoreZoneVersion", await zones.restore(context, params.domain_id, Number(params.serial), body.confirm)),
  exportZoneFile: async (context, { params }) => ({
    status: 200,
    body: { domain: { zone_file: await zones.exportFile(context, params.domain_id) } },
  }),
  importZoneFile: async (context, { params, body }) =>
    accepted("importZoneFile", await zones.importFile(context, params.domain_id, body)),
};
