// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;

/** The end of the demo: how to use what was shown. */
final class DemoFarewell {
  private final DemoScript script;
  private final TemporaryNode temporary;

  DemoFarewell(DemoScript script, TemporaryNode temporary) {
    this.script = script;
    this.temporary = temporary;
  }

  /** The node of the demo goes; the development node is what comes next. */
  void sayHowToTry() {
    script.scene("Your turn");
    script.cql("./isolde start                         a node that stays, until ./isolde stop");
    script.cql("pip install cqlsh && cqlsh 127.0.0.1");
    sayHowToUse();
    script.say("");
    script.say("The node of this demo is stopped and its data deleted; --keep leaves it running.");
  }

  /** The node of the demo stays. */
  void sayHowToGoOn() {
    NodeSpec node = temporary.node().spec();
    script.scene("Your turn");
    script.say("The node keeps running, with the tables demo.accounts and demo.numbers.");
    script.say("");
    script.cql("pip install cqlsh && cqlsh %s %d".formatted(node.address(), node.nativePort()));
    sayHowToUse();
    script.say("");
    script.say("When you are done:");
    script.say("");
    script.cql("./isolde cluster remove demo --home %s".formatted(temporary.home()));
  }

  private void sayHowToUse() {
    script.say("");
    script.cql("ENABLE TRANSACTIONS ON my_keyspace.my_table;   -- online, any existing table");
    script.cql("START TRANSACTION;  ...  COMMIT;               -- or ROLLBACK");
    script.say("");
    script.say("Single statements on such a table are transactions, too, of one statement each.");
    script.say("Java: client/README.md, with retries included. Other languages: any driver for");
    script.say("Cassandra, with a payload entry in each statement; that README describes it.");
  }
}
