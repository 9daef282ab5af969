/** Errors that belong to no field, and the state of a query. */
import { Alert, Button, Loader, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts.ts";

export function Failure({ error, retry }: { readonly error: Error | null; readonly retry?: () => void }) {
  if (error === null) return null;
  return (
    <Alert color="red" variant="light" role="alert" styles={{ message: { color: "var(--mantine-color-text)" } }}>
      <Stack gap="xs" align="start">
        <Text size="sm">{error.message}</Text>
        {retry !== undefined && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            {texts.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

interface LoadedProps<Data> {
  readonly query: {
    readonly data: Data | undefined;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  readonly children: (data: Data) => ReactNode;
}

/** The data of a query, or why there is none. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return <Loader size="sm" role="status" aria-label={texts.loading} />;
}
