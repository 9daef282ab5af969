/** Crash tests for domains, DNS and caches. A new operation is one line in `describeCrashes`. */
import { dnsSubjects } from "../../testing/dnsRecords.ts";
import { addingDomain, changingPrimaryDomain, deletingDomain } from "../../testing/domains.ts";
import { clearingCache, switchingCacheOff } from "../../testing/environments.ts";
import { describeCrashes } from "./testing/describeCrashes.ts";

const { "importing a zone file": importingZoneFile, ...otherZoneChanges } = dnsSubjects;

describeCrashes(
  {
    "adding a domain": addingDomain,
    "removing a domain": deletingDomain,
    "changing the primary domain": changingPrimaryDomain,
    "importing a zone file": importingZoneFile,
    "clearing a cache": clearingCache("clearCache", null),
    "clearing part of a cache": clearingCache("clearEdgeCache", "/news/"),
    "switching a cache off": switchingCacheOff,
  },
  otherZoneChanges,
);
