<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** Conditions with a form that SQLite lacks: HAVING without groups, comparisons with ALL and ANY rows, SOUNDS LIKE. */
final class Conditions implements Rule {
	public function nodes(): array {
		return [ 'querySpecification', 'boolPri', 'predicate' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		switch ( $node->rule_name ) {
			case 'querySpecification':
				$this->having( $node, $rewriting );
				return null;
			case 'boolPri':
				return $this->quantified( $node, $rewriting );
			default:
				return $this->sounds_like( $node, $rewriting );
		}
	}

	/** Without groups, HAVING is about the only row if there are aggregates, and otherwise about each row, like WHERE. */
	private function having( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$having = $node->get_first_child_node( 'havingClause' );
		if ( null === $having || $node->has_child_node( 'groupByClause' ) ) {
			return;
		}
		if ( $this->has_aggregate( $node ) ) {
			$having->rule_name = 'rewritten';
			$this->aggregate( $node->get_first_child_node( 'selectItemList' ), $having, $rewriting );
			return;
		}
		$where     = $node->get_first_child_node( 'whereClause' );
		$condition = $having->get_first_child_node();
		$parts     = null === $where
			? [ 'WHERE', $condition ]
			: [ 'WHERE (', $where->get_first_child_node(), ') AND (', $condition, ')' ];
		$both      = $rewriting->sequence( $parts, $having );
		// Later rules must not take it for HAVING.
		$both->rule_name = 'rewritten';
		$children        = array_filter( $node->get_children(), static fn ( $child ) => $child !== $where );
		Tree::set_children( $node, array_map( static fn ( $child ) => $child === $having ? $both : $child, array_values( $children ) ) );
	}

	/**
	 * SQLite takes a query for one about all rows only if a result is an aggregate. So the first result becomes an
	 * aggregate with the same value. `*` can't become one: GROUP BY makes all rows one group, but none if there is no row.
	 */
	private function aggregate( WP_Parser_Node $results, WP_Parser_Node $having, Rewriting $rewriting ): void {
		if ( $this->has_aggregate( $results ) ) {
			return;
		}
		foreach ( $results->get_child_nodes( 'selectItem' ) as $result ) {
			$value = $result->get_first_child_node();
			if ( 'tableWild' === $value->rule_name ) {
				continue;
			}
			$parts = [ $rewriting->sequence( [ 'iif(count(*) >= 0, ', $value, ', NULL)' ], $value ), ...array_slice( $result->get_children(), 1 ) ];
			$name  = $result->has_child_node( 'selectAlias' ) ? null : $this->name( $value, $rewriting );
			if ( null !== $name ) {
				$parts[]           = $rewriting->sequence( [ 'AS ' . Schema::quoted( $name ) ], $value );
				$result->rule_name = 'rewritten';
			}
			Tree::set_children( $result, $parts );
			return;
		}
		Tree::set_children( $having, [ $rewriting->sequence( [ 'GROUP BY NULL' ], $having ), ...$having->get_children() ] );
	}

	/** The name of a result that is a column or a text; null for others, which have their own text as a name. */
	private function name( WP_Parser_Node $value, Rewriting $rewriting ): ?string {
		$core = $rewriting->kinds->core( $value );
		return 'columnRef' === $core->rule_name ? Schema::last_name_of( $core ) : $rewriting->kinds->text( $value );
	}

	/** `a > ALL (SELECT …)`, `a = ANY (SELECT …)`. */
	private function quantified( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		$is_all   = Lexer::ALL_SYMBOL === ( $children[2]->id ?? null );
		if ( 4 !== count( $children ) || ! $children[2] instanceof WP_MySQL_Token ) {
			return null;
		}
		[ $left, $operator, , $query ] = $children;
		$query = [ 'WITH quantified(value) AS', $query, 'SELECT 1 FROM quantified WHERE' ];
		return $is_all
			? $rewriting->sequence( [ 'NOT EXISTS (', ...$query, 'NOT (', $left, $operator, 'quantified.value))' ], $node )
			: $rewriting->sequence( [ 'EXISTS (', ...$query, $left, $operator, 'quantified.value)' ], $node );
	}

	private function sounds_like( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( ! $node->has_child_token( Lexer::SOUNDS_SYMBOL ) ) {
			return null;
		}
		[ $left, $right ] = $node->get_child_nodes( 'bitExpr' );
		$sound            = static fn ( WP_Parser_Node $text ) => $rewriting->call( 'soundex', [ $text ], $text );
		return $rewriting->sequence( [ '(', $sound( $left ), '=', $sound( $right ), ')' ], $node );
	}

	private function has_aggregate( WP_Parser_Node $node ): bool {
		foreach ( $node->get_child_nodes() as $child ) {
			if ( 'sumExpr' === $child->rule_name && ! $child->has_child_node( 'windowingClause' ) ) {
				return true;
			}
			if ( 'subquery' !== $child->rule_name && $this->has_aggregate( $child ) ) {
				return true;
			}
		}
		return false;
	}
}
