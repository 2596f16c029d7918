// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Runs in a node, where {@link NodeFaults} put it: the node looks at a file at each step of a
 * snapshot, and of a TRUNCATE in a strong keyspace. The file holds a step and what happens there,
 * {@code LOAD:halt} or {@code LOAD:fail}.
 */
public final class FaultAgent {
  /** In the folder of the node. */
  static final String FILE = "fault";

  /** Methods with a step as their first argument, by the classes that have them. */
  private static final Map<String, String> STEPS =
      Map.of(
          "io/isolde/snapshot/node/ReplicaWork", "perform",
          "io/isolde/replication/GroupTruncations", "ask");

  private static final int KILLED = 137;

  private FaultAgent() {}

  /** Called by Java before the node starts. */
  public static void premain(String unused, Instrumentation java) {
    java.addTransformer(
        new ClassFileTransformer() {
          @Override
          public byte[] transform(
              ClassLoader loader,
              String name,
              Class<?> redefined,
              ProtectionDomain domain,
              byte[] bytes) {
            return STEPS.containsKey(name) ? withFaults(bytes, STEPS.get(name)) : null;
          }
        });
  }

  private static byte[] withFaults(byte[] bytes, String step) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String types, String signature, String[] exceptions) {
            MethodVisitor method = super.visitMethod(access, name, types, signature, exceptions);
            return name.equals(step) ? new Beginning(method) : method;
          }
        },
        0);
    return writer.toByteArray();
  }

  /** Calls {@link #reached} with the step; after the first label, where the method's try begins. */
  private static final class Beginning extends MethodVisitor {
    private boolean isOver;

    Beginning(MethodVisitor method) {
      super(Opcodes.ASM9, method);
    }

    @Override
    public void visitLabel(Label label) {
      super.visitLabel(label);
      if (!isOver) {
        isOver = true;
        visitVarInsn(Opcodes.ALOAD, 1);
        visitMethodInsn(
            Opcodes.INVOKESTATIC,
            FaultAgent.class.getName().replace('.', '/'),
            "reached",
            "(Ljava/lang/Object;)V",
            false);
      }
    }
  }

  /** A step begins. */
  public static void reached(Object step) throws IOException {
    Path file = Path.of(System.getProperty("cassandra.storagedir"), FILE);
    String fault = Files.exists(file) ? Files.readString(file).strip() : "";
    if (fault.equals(step + ":halt")) {
      Runtime.getRuntime().halt(KILLED);
    } else if (fault.equals(step + ":fail")) {
      throw new IOException("No space left on device");
    }
  }
}
