<?php
namespace WP_MySQL_Layer;

require_once __DIR__ . '/../letters.php';

/** How texts are compared. */
final class Text {
	/** Compares two texts without regard to case and accents. Returns -1, 0 or 1. */
	public static function compare( string $a, string $b ): int {
		return strcmp( self::fold( $a ), self::fold( $b ) ) <=> 0;
	}

	/** Returns the same text for all texts that are equal. */
	public static function fold( string $text ): string {
		return Letters::fold( $text );
	}

	/** Returns the regular expression of a LIKE pattern. */
	public static function like_pattern( string $like, string $escape ): string {
		$pattern = '';
		$escaped = false;
		foreach ( mb_str_split( $like ) as $character ) {
			if ( ! $escaped && $character === $escape ) {
				$escaped = true;
				continue;
			}
			$wildcard = $escaped ? null : [ '%' => '.*', '_' => '.' ][ $character ] ?? null;
			$pattern .= $wildcard ?? preg_quote( $character, '~' );
			$escaped  = false;
		}
		return "~^$pattern\\z~isu";
	}
}
