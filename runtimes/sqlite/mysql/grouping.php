<?php
namespace WP_MySQL_Layer;

use WeakMap;
use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Groups operators by their precedence in MySQL. The parser gives `a * b - c` as one list in which everything right of an
 * operator is its right side. Rules need to know the operands, and SQLite has other precedences.
 * https://dev.mysql.com/doc/refman/8.0/en/operator-precedence.html
 */
final class Grouping {
	private const ARITHMETIC = [
		Lexer::BITWISE_OR_OPERATOR  => 1,
		Lexer::BITWISE_AND_OPERATOR => 2,
		Lexer::SHIFT_LEFT_OPERATOR  => 3,
		Lexer::SHIFT_RIGHT_OPERATOR => 3,
		Lexer::PLUS_OPERATOR        => 4,
		Lexer::MINUS_OPERATOR       => 4,
		Lexer::MULT_OPERATOR        => 5,
		Lexer::DIV_OPERATOR         => 5,
		Lexer::MOD_OPERATOR         => 5,
		Lexer::DIV_SYMBOL           => 5,
		Lexer::MOD_SYMBOL           => 5,
		Lexer::BITWISE_XOR_OPERATOR => 6,
	];
	private const LOGIC = [
		Lexer::OR_SYMBOL            => 1,
		Lexer::LOGICAL_OR_OPERATOR  => 1,
		Lexer::XOR_SYMBOL           => 2,
		Lexer::AND_SYMBOL           => 3,
		Lexer::LOGICAL_AND_OPERATOR => 3,
	];

	/** Nodes that were created here. They are looked at like all others afterwards. @var WeakMap<WP_Parser_Node, true> */
	private static ?WeakMap $done = null;
	/** What is left to group: operands (lists of nodes) and operators, in the order of the text. */
	private array $items = [];
	private int $next = 0;
	private array $levels;
	private WP_Parser_Node $node;

	private function __construct( WP_Parser_Node $node, array $levels ) {
		$this->node   = $node;
		$this->levels = $levels;
	}

	/**
	 * Groups the operands and operators of a `bitExpr` or `expr`, so that it has at most one operator: `[left, operator, right]`. An
	 * interval stays in three parts.
	 */
	public static function group( WP_Parser_Node $node ): void {
		self::$done ??= new WeakMap();
		if ( 1 === count( $node->get_children() ) || isset( self::$done[ $node ] ) ) {
			return;
		}
		$is_arithmetic = 'bitExpr' === $node->rule_name;
		$grouping = new self( $node, $is_arithmetic ? self::ARITHMETIC : self::LOGIC );
		if ( $is_arithmetic ) {
			$grouping->add_arithmetic( $node );
		} else {
			$grouping->add_logic( $node );
		}
		Tree::set_children( $node, $grouping->operation( 1 ) );
	}

	private function add_arithmetic( WP_Parser_Node $node ): void {
		$children      = $node->get_children();
		$this->items[] = [ $children[0] ];
		for ( $i = 1, $count = count( $children ); $i < $count; $i += 2 ) {
			$this->items[] = $children[ $i ];
			$right         = $children[ $i + 1 ];
			if ( $right instanceof WP_MySQL_Token ) {
				// INTERVAL amount unit.
				$this->items[] = [ $right, $children[ $i + 2 ], $children[ $i + 3 ] ];
				$i            += 2;
			} elseif ( 'bitExpr' === $right->rule_name ) {
				$this->add_arithmetic( $right );
			} else {
				$this->items[] = [ $right ];
			}
		}
	}

	private function add_logic( WP_Parser_Node $node ): void {
		$operand = [];
		foreach ( $node->get_children() as $child ) {
			$is_token = $child instanceof WP_MySQL_Token;
			if ( $is_token && ( isset( self::LOGIC[ $child->id ] ) || ( [] === $operand && Lexer::NOT_SYMBOL === $child->id ) ) ) {
				$this->add_operand( $operand );
				$operand       = [];
				$this->items[] = $child;
			} elseif ( [] === $operand && ! $is_token && 'expr' === $child->rule_name ) {
				$this->add_logic( $child );
			} else {
				$operand[] = $child;
			}
		}
		$this->add_operand( $operand );
	}

	private function add_operand( array $operand ): void {
		if ( [] !== $operand ) {
			$this->items[] = $operand;
		}
	}

	/** Returns the parts of the operation that begins here, with operators of this level or a higher one. */
	private function operation( int $level ): array {
		$parts = $this->operand();
		while ( $this->next < count( $this->items ) ) {
			$operator = $this->items[ $this->next ];
			$found    = $this->levels[ $operator->id ];
			if ( $found < $level ) {
				break;
			}
			++$this->next;
			$right = $this->operation( $found + 1 );
			$parts = Lexer::INTERVAL_SYMBOL === ( $right[0]->id ?? null )
				? [ $this->single( $parts ), $operator, ...$right ]
				: [ $this->single( $parts ), $operator, $this->single( $right ) ];
		}
		return $parts;
	}

	private function operand(): array {
		$item = $this->items[ $this->next ];
		++$this->next;
		if ( is_array( $item ) ) {
			return $item;
		}
		// NOT binds closer than the operators around it.
		return [ $item, $this->single( $this->operand() ) ];
	}

	private function single( array $parts ): WP_Parser_Node {
		if ( 1 === count( $parts ) ) {
			return $parts[0];
		}
		$node = new WP_Parser_Node( $this->node->rule_id, $this->node->rule_name );
		Tree::set_children( $node, $parts );
		self::$done[ $node ] = true;
		return $node;
	}
}
