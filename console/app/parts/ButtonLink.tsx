/** Links of the router that look like Mantine's. */
import { Anchor, Button, type ButtonProps, NavLink } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";

type AnchorButtonProps = ButtonProps & Omit<ComponentPropsWithRef<"a">, keyof ButtonProps>;

/** Without `component`, it would be a button for screen readers, and could not be opened in another tab. */
const AnchorButton = (props: AnchorButtonProps) => <Button component="a" {...props} />;

export const ButtonLink = createLink(AnchorButton);
export const TextLink = createLink(Anchor<"a">);
export const MenuLink = createLink(NavLink<"a">);
