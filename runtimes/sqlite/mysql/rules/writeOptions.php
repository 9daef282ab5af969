<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** Options of INSERT, REPLACE and DELETE for MySQL's server: `INSERT LOW_PRIORITY`, `DELETE QUICK`. */
final class Write_Options implements Rule {
	private const OPTIONS = [ Lexer::LOW_PRIORITY_SYMBOL, Lexer::HIGH_PRIORITY_SYMBOL, Lexer::DELAYED_SYMBOL, Lexer::QUICK_SYMBOL ];

	public function nodes(): array {
		return [ 'insertStatement', 'replaceStatement', 'deleteStatement' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$options  = 'deleteStatement' === $node->rule_name ? [ ...self::OPTIONS, Lexer::IGNORE_SYMBOL ] : self::OPTIONS;
		$is_other = static fn ( $child ) => ! in_array( self::option( $child ), $options, true );
		Tree::set_children( $node, array_values( array_filter( $node->get_children(), $is_other ) ) );
		return null;
	}

	/** The token of what may be an option, and not a name. @param WP_Parser_Node|WP_MySQL_Token $child */
	private static function option( $child ): ?int {
		if ( $child instanceof WP_MySQL_Token ) {
			return $child->id;
		}
		$is_option = in_array( $child->rule_name, [ 'insertLockOption', 'deleteStatementOption' ], true );
		return $is_option ? $child->get_first_descendant_token()->id : null;
	}
}
