<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** Values that become texts. SQLite writes 2.0 where MySQL writes 2. */
final class Text_Forms {
	private const NEVER_REAL = [ Lexer::INT_NUMBER, Lexer::SINGLE_QUOTED_TEXT, Lexer::DOUBLE_QUOTED_TEXT ];

	public static function is_never_real( WP_Parser_Node $value ): bool {
		$tokens = $value->get_descendant_tokens();
		return 1 === count( $tokens ) && in_array( $tokens[0]->id, self::NEVER_REAL, true );
	}

	/** Returns an expression that SQLite turns into MySQL's text. */
	public static function of( WP_Parser_Node $value, Rewriting $rewriting ): WP_Parser_Node {
		if ( self::is_never_real( $value ) ) {
			return $value;
		}
		$text = $rewriting->call( 'mysql_real_text', [ $value ], $value );
		return $rewriting->sequence( [ 'iif(typeof(', $value, ") = 'real', ", $text, ', ', $value, ')' ], $value );
	}

	/**
	 * Returns the values' texts one after the other, or NULL if one of them is NULL.
	 *
	 * @param WP_Parser_Node[] $values
	 */
	public static function joined( array $values, WP_Parser_Node $place, Rewriting $rewriting ): WP_Parser_Node {
		$parts = [ "(''" ];
		foreach ( $values as $value ) {
			array_push( $parts, ' || (', self::of( $value, $rewriting ), ')' );
		}
		return $rewriting->sequence( [ ...$parts, ')' ], $place );
	}
}
