/** Asks for the password when the session has ended, in front of the page, so that nothing typed there is lost. */
import { Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useConnected } from "../api/connection.ts";
import { sessionQuery } from "../api/session.ts";
import { texts } from "../texts.ts";
import { SignInForm } from "./SignInForm.tsx";

/** How often the session is looked at, in milliseconds. */
const lookMilliseconds = 60_000;
/** How often while the API can't be reached: the first answer shows that it can again, also if nothing else is read. */
const tryMilliseconds = 2_000;

export function SessionGuard() {
  const refetchInterval = useConnected() ? lookMilliseconds : tryMilliseconds;
  const { data: session } = useQuery({ ...sessionQuery, refetchInterval });
  const client = useQueryClient();
  const navigate = useNavigate();
  const { history } = useRouter();
  const href = useRouterState({ select: ({ location }) => location.href });
  const user = useRef(session?.user.id);
  const mustChange = session?.must_change_password === true;
  const mustAdd = session?.must_add_second_factor === true;
  useEffect(() => {
    if (session) user.current = session.user.id;
    if (mustChange) void navigate({ to: "/password", search: { next: href } });
    else if (mustAdd) void navigate({ to: "/second-factor", search: { next: href } });
  }, [session, mustChange, mustAdd, navigate, href]);
  return (
    <Modal
      opened={session === null}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={texts.signIn.title}
    >
      <Stack>
        <Text size="sm">{texts.signIn.ended}</Text>
        <SignInForm
          done={(signedIn) => {
            // What the page shows may belong to another company.
            if (signedIn.user.id !== user.current) window.location.assign(history.createHref("/"));
            else void client.invalidateQueries();
          }}
        />
      </Stack>
    </Modal>
  );
}
