/** The session: who has signed in. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { answered, api, type Schemas } from "./client.ts";
import { ApiFailure } from "./failure.ts";

export type SignedIn = Schemas["SignedIn"];
export type Permission = SignedIn["permissions"][number];

export const sessionKey = ["session"] as const;

/** Null: nobody has signed in. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ signal }): Promise<SignedIn | null> => {
    const { data, error, response } = await answered(api.GET("/session", { signal }));
    if (data !== undefined) return data;
    if (response.status === 401) return null;
    throw new ApiFailure(response.status, error);
  },
  staleTime: 60_000,
});

/** The session of a page that is only shown to people who have signed in. */
export function useSignedIn(): SignedIn | null {
  return useQuery(sessionQuery).data ?? null;
}

/** Whether the API says that the person may do that. */
export const may = (session: SignedIn | null, permission: Permission): boolean =>
  session?.permissions.includes(permission) === true;

export const mayChange = (session: SignedIn | null): boolean => may(session, "change_sites");
