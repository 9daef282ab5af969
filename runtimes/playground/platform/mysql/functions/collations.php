<?php
namespace WP_MySQL_Layer;

/** Texts with letters beyond ASCII. */
final class Collation_Functions extends Function_Set {
	/** The same text for all texts that are equal; other values stay as they are. */
	public function mysql_fold( $text ) {
		return is_string( $text ) ? Letters::fold( $text ) : $text;
	}

	public function mysql_like( $text, $pattern, $escape ): ?int {
		if ( null === $text || null === $pattern ) {
			return null;
		}
		return (int) Letters::matches( (string) $text, (string) $pattern, (string) $escape );
	}
}
