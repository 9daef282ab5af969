<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** `&&`, `||`, `XOR`, `!`, `<=>` and `IS UNKNOWN`. */
final class Logic implements Rule {
	private const NAMES = [
		Lexer::LOGICAL_AND_OPERATOR     => 'AND',
		Lexer::LOGICAL_OR_OPERATOR      => 'OR',
		Lexer::NULL_SAFE_EQUAL_OPERATOR => 'IS',
		Lexer::UNKNOWN_SYMBOL           => 'NULL',
		// NOT in the mode HIGH_NOT_PRECEDENCE.
		Lexer::NOT2_SYMBOL              => 'NOT',
		Lexer::LOGICAL_NOT_OPERATOR     => 'NOT',
	];

	public function nodes(): array {
		return [ 'expr', 'compOp', 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( 'simpleExprBody' === $node->rule_name ) {
			return $this->negation( $node, $rewriting );
		}
		$parts   = $node->get_children();
		$changed = false;
		foreach ( $parts as $i => $part ) {
			if ( ! $part instanceof WP_MySQL_Token ) {
				continue;
			}
			if ( Lexer::XOR_SYMBOL === $part->id ) {
				// Unlike IS NOT, this is NULL if a side is.
				return $rewriting->sequence( [ '((NOT (', $parts[0], ')) <> (NOT (', $parts[2], ')))' ], $node );
			}
			if ( isset( self::NAMES[ $part->id ] ) ) {
				$parts[ $i ] = self::NAMES[ $part->id ];
				$changed     = true;
			}
		}
		return $changed ? $rewriting->sequence( $parts, $node ) : null;
	}

	/** `!a`: binds closer than any operator. */
	private function negation( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		$first    = $children[0];
		if ( ! $first instanceof WP_Parser_Node || 'not2Rule' !== $first->rule_name ) {
			return null;
		}
		return $rewriting->sequence( [ '(NOT ', $children[1], ')' ], $node );
	}
}
