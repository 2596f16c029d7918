// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a running Cassandra node with Isolde:
 *
 * <pre>{@code
 * @IsoldeTest
 * class TransferTest {
 *   @BeforeAll
 *   static void createTables(CqlSession session) {
 *     session.execute("CREATE TABLE accounts (id int PRIMARY KEY, balance int)");
 *     session.execute("ENABLE TRANSACTIONS ON accounts");
 *   }
 *
 *   @Test
 *   void whenMoneyMovesThenTheSumStays(Isolde isolde) { … }
 * }
 * }</pre>
 *
 * <p>Constructors and methods may have parameters of type {@code CqlSession}, {@code Isolde} and
 * {@code LocalNode}. The session uses a keyspace that this class alone has, and is closed by the
 * extension. The node is a process of its own, which ends with the one that runs the tests.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(IsoldeExtension.class)
public @interface IsoldeTest {

  /** Default: one node for all classes of this process, started by the first that needs it. */
  Sharing node() default Sharing.PROCESS;

  /**
   * Settings of isolde.yaml, each {@code name: value}, such as {@code transaction_max_idle: 1s}.
   * They need a node of the class's own.
   */
  String[] settings() default {};

  /** Who uses a node. */
  enum Sharing {
    /** All classes of the process. */
    PROCESS,
    /** This class alone; starting a node takes 10 to 30 seconds. */
    CLASS
  }
}
