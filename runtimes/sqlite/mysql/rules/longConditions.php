<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Hundreds of conditions with OR or AND between them. SQLite takes each operator for a level, and has no more than a thousand
 * levels. In parentheses, by hundreds, they are as many levels as there are hundreds.
 */
final class Long_Conditions implements Rule {
	private const TOGETHER = 100;

	public function nodes(): array {
		return [ 'expr' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$operator = self::operator( $node );
		$above    = end( $rewriting->above );
		if ( null === $operator || ( false !== $above && self::operator( $above ) === $operator ) ) {
			return null;
		}
		$operands = [];
		for ( $left = $node; $operator === self::operator( $left ); [ $left ] = $left->get_children() ) {
			$operands[] = $left->get_children()[2];
		}
		if ( count( $operands ) < self::TOGETHER ) {
			return null;
		}
		$name   = Lexer::OR_SYMBOL === $operator ? 'OR' : 'AND';
		$groups = array_chunk( array_reverse( [ ...$operands, $left ] ), self::TOGETHER );
		$groups = array_map( static fn ( array $group ) => $rewriting->sequence( [ '(', ...self::joined( $group, $name ), ')' ], $node ), $groups );
		return $rewriting->sequence( self::joined( $groups, $name ), $node );
	}

	/** OR or AND if that is the operator of an expression, or null. */
	private static function operator( WP_Parser_Node $node ): ?int {
		$operator = 'expr' === $node->rule_name ? $node->get_children()[1] ?? null : null;
		return $operator instanceof WP_MySQL_Token && in_array( $operator->id, [ Lexer::OR_SYMBOL, Lexer::AND_SYMBOL ], true ) ? $operator->id : null;
	}

	private static function joined( array $operands, string $operator ): array {
		$parts = [];
		foreach ( $operands as $operand ) {
			array_push( $parts, $operator, $operand );
		}
		return array_slice( $parts, 1 );
	}
}
