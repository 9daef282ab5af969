<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/**
 * `CONVERT(text USING latin1)`. All texts are UTF-8 here, so it only replaces letters that the character set lacks. Read as UTF-8,
 * its bytes are another text: `CONVERT(BINARY CONVERT(text USING latin1) USING utf8mb4)` repairs texts that were taken for latin1.
 */
final class Charsets implements Rule {
	private const SINGLE_BYTES = [ 'ascii', 'latin1' ];

	public function nodes(): array {
		return [ 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$charset = $this->charset( $node );
		if ( null === $charset ) {
			return null;
		}
		$value = $node->get_first_child_node( 'expr' );
		if ( in_array( $charset, self::SINGLE_BYTES, true ) ) {
			return $rewriting->call( 'mysql_in_charset', [ $value, "'$charset'" ], $node );
		}
		if ( ! str_starts_with( $charset, 'utf8' ) ) {
			return null;
		}
		$bytes   = $this->bytes_of( $rewriting->kinds->core( $value ) );
		$encoded = null === $bytes ? null : $rewriting->kinds->core( $bytes );
		$other   = null === $encoded ? null : $this->charset( $encoded );
		return in_array( $other, self::SINGLE_BYTES, true )
			? $rewriting->call( 'mysql_reread', [ $encoded->get_first_child_node( 'expr' ), "'$other'" ], $node )
			: null;
	}

	/** The character set in `CONVERT(… USING …)`, or null. */
	private function charset( WP_Parser_Node $node ): ?string {
		$is_convert = 'simpleExprBody' === $node->rule_name && $node->has_child_token( Lexer::CONVERT_SYMBOL );
		$tokens     = $is_convert && $node->has_child_token( Lexer::USING_SYMBOL ) ? $node->get_descendant_tokens() : [];
		return [] === $tokens ? null : strtolower( $tokens[ count( $tokens ) - 2 ]->get_value() );
	}

	/** The operand of `BINARY …` and `CAST(… AS BINARY)`, or null. */
	private function bytes_of( WP_Parser_Node $node ): ?WP_Parser_Node {
		if ( 'simpleExprBody' !== $node->rule_name ) {
			return null;
		}
		$type = $node->get_first_child_node( 'castType' )?->get_first_descendant_token();
		return Lexer::BINARY_SYMBOL === ( $type ?? $node->get_first_child() )->id ? $node->get_first_child_node() : null;
	}
}
