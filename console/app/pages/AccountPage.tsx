import { Alert, Badge, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { sessionKey, useSignedIn } from "../api/session.ts";
import { dateText } from "../formats.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { Page } from "../parts/Page.tsx";
import { PasswordForm } from "../parts/PasswordForm.tsx";
import { texts } from "../texts.ts";
import { ProviderAccountsCard } from "./ProviderAccountsCard.tsx";
import { SecondFactorCard } from "./SecondFactorCard.tsx";

const at = texts.account;

const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) => (await answerOf(api.GET("/sessions", { signal }))).sessions,
});

/** The person who has signed in: sessions and password. */
export function AccountPage() {
  const session = useSignedIn();
  const sessions = useQuery(sessionsQuery);
  const [isChanged, setChanged] = useState(false);
  return (
    <Page title={at.title} actions={<SignOutButton />}>
      {session !== null && (
        <Text>{`${session.user.full_name}, ${session.user.email}. ${at.company}: ${session.company.name}. ${at.role}: ${session.user.role}.`}</Text>
      )}
      <Card title={at.sessions}>
        <Loaded query={sessions}>{(found) => <Sessions sessions={found} />}</Loaded>
      </Card>
      <Card title={texts.secondFactor.title}>
        <SecondFactorCard email={session?.user.email ?? ""} />
      </Card>
      <ProviderAccountsCard />
      <Card title={at.password}>
        {isChanged && <Alert role="status">{texts.password.changed}</Alert>}
        <PasswordForm email={session?.user.email ?? ""} done={() => setChanged(true)} />
      </Card>
    </Page>
  );
}

function Card({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Paper withBorder p="lg" maw={720} component="section" aria-label={title}>
      <Stack>
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}

/** The whole page is loaded again, so that nothing of this person stays in the browser's memory. */
function SignOutButton() {
  const signOut = useMutation({
    mutationFn: () => answerOf(api.DELETE("/session")),
    onSuccess: () => window.location.assign("/sign-in"),
  });
  return (
    <>
      <Failure error={signOut.error} />
      <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
        {texts.signIn.signOut}
      </Button>
    </>
  );
}

type Session = Schemas["Session"];

function Sessions({ sessions }: { readonly sessions: readonly Session[] }) {
  const client = useQueryClient();
  const endOthers = useMutation({
    mutationFn: () => answerOf(api.DELETE("/sessions")),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  return (
    <Stack>
      <Stack role="list">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </Stack>
      <Failure error={endOthers.error} />
      <ActionButton
        variant="default"
        style={{ alignSelf: "start" }}
        loading={endOthers.isPending}
        reason={sessions.length > 1 ? null : at.noOthers}
        onClick={() => endOthers.mutate()}
      >
        {at.endOthers}
      </ActionButton>
    </Stack>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: () => answerOf(api.DELETE("/sessions/{session_id}", { params: { path: { session_id: session.id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: session.is_current ? sessionKey : sessionsQuery.queryKey }),
  });
  const name = browserText(session);
  return (
    <Stack gap="xs" role="listitem">
      <Group justify="space-between" gap="sm">
        <Stack gap={0}>
          <Text>{name}</Text>
          <Text size="sm" c="dimmed">
            {[session.ip_address === null ? null : at.from(session.ip_address), timeText(session)]
              .filter(Boolean)
              .join(", ")}
          </Text>
        </Stack>
        {session.is_current ? (
          <Badge variant="light">{at.current}</Badge>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            loading={end.isPending}
            onClick={() => end.mutate()}
            aria-label={at.endNamed(name)}
          >
            {at.end}
          </Button>
        )}
      </Group>
      <Failure error={end.error} />
    </Stack>
  );
}

function browserText({ browser_name: browser, os_name: system }: Session): string {
  if (browser === null) return at.unknownBrowser;
  return system === null ? browser : at.on(browser, system);
}

const timeText = ({ created_at: created, last_used_at: used }: Session): string =>
  used === null ? `${at.signedIn} ${dateText(created)}` : `${at.lastUsed} ${dateText(used)}`;
