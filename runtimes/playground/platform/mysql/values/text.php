<?php
namespace WP_MySQL_Layer;

/** How texts are compared. */
final class Text {
	/** Compares two texts without regard to case. Returns -1, 0 or 1. */
	public static function compare( string $a, string $b ): int {
		return strcmp( self::fold( $a ), self::fold( $b ) ) <=> 0;
	}

	/** Returns a text in which upper and lower case are the same. */
	public static function fold( string $text ): string {
		return mb_convert_case( $text, MB_CASE_FOLD_SIMPLE );
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
