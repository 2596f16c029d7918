// SPDX-License-Identifier: Apache-2.0
/** A mail server: its ports, and the process that has them. */
package io.isolde.mail.server;
