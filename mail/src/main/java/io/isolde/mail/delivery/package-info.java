// SPDX-License-Identifier: Apache-2.0
/** How a message comes into an inbox, and stays one message if its sender repeats it. */
package io.isolde.mail.delivery;
