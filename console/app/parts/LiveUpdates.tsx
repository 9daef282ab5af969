/** Keeps every page up to date while somebody has signed in. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { keepUpToDate } from "../api/events.ts";
import { useSignedIn } from "../api/session.ts";

export function LiveUpdates() {
  const client = useQueryClient();
  const signedIn = useSignedIn();
  const company = signedIn?.company.id;
  const session = signedIn?.session.id;
  useEffect(() => {
    if (company !== undefined && session !== undefined) return keepUpToDate(client, company);
    return undefined;
  }, [client, company, session]);
  return null;
}
